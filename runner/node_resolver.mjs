// Finds the locked packages for programs in the workspace, which has no node_modules of its own, by import and require.
// What can be found without it is found without it. Node 22.15 or later (module.registerHooks).
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const beside = new URL('./packages.js', import.meta.url).href;
const locked = createRequire(beside);
const bare = /^[^./#][^:]*$/;
let isLooking = false;

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (isLooking || !bare.test(specifier)) throw error;
      isLooking = true;
      try {
        // `require` looks from where it is called, whatever the context says.
        if (context.conditions?.includes('require')) {
          return { url: pathToFileURL(locked.resolve(specifier)).href, shortCircuit: true };
        }
        return next(specifier, { ...context, parentURL: beside });
      } catch {
        throw error;
      } finally {
        isLooking = false;
      }
    }
  },
});
