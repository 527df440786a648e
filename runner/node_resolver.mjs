// Finds the locked packages for programs in the workspace, which has no node_modules of its own, by import and require.
// What can be found without it is found without it. Node 22.15 or later (module.registerHooks).
import { registerHooks } from 'node:module';

const beside = new URL('./packages.js', import.meta.url).href;
const bare = /^[^./#][^:]*$/;

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (!bare.test(specifier)) throw error;
      try {
        return next(specifier, { ...context, parentURL: beside });
      } catch {
        throw error;
      }
    }
  },
});
