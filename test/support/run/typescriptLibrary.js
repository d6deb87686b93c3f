// For generators of clients, which use TypeScript as a library, as version 7 is not one: `node --import` this.
import { register } from "node:module";

const hooks = `export const resolve = (name, context, next) =>
  next(name === "typescript" ? "@ts-morph/common/dist/typescript.js" : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
