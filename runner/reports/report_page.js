"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const first = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const said = document.createElement("p");
  said.className = "unseen";
  said.setAttribute("role", "status");
  table.parentElement.after(said);
  const value = (row, at) => {
    const cell = row.cells[at];
    if (cell.dataset.unknown !== undefined) return null;
    return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
  };
  const compare = (one, other) =>
    typeof one === "number" ? one - other : one.localeCompare(other, "en", { numeric: true });
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const way = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", way);
      const sign = way === "ascending" ? 1 : -1;
      const rows = first.map((row) => [value(row, at), row]);
      rows.sort(([one], [other]) => {
        if (one === null || other === null) return (one === null) - (other === null);
        return sign * compare(one, other);
      });
      body.append(...rows.map(([, row]) => row));
      said.textContent = `Sorted by ${button.textContent}, ${way}. What is not known stands last.`;
    });
  });
}
