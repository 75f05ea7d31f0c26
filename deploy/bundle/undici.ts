/**
 * Loads only the parts of undici that a module imports. Its entry point requires all parts: half a megabyte of code for caches, mocks,
 * WebSockets, and more, which no process of Denrei uses. A test compares these parts with the entry point of the pinned version.
 */
import { dirname } from "node:path";
import type { Plugin } from "rolldown";

/** Imports of names from undici, as a formatter writes them. */
const imports = /\bimport\s*\{([^}]*)\}\s*from\s*(["'])undici\2;?/g;

/** The module of each class, below `undici/lib`. */
const classes: Readonly<Record<string, string>> = {
  Agent: "dispatcher/agent",
  Client: "dispatcher/client",
  Dispatcher: "dispatcher/dispatcher",
  EnvHttpProxyAgent: "dispatcher/env-http-proxy-agent",
  Pool: "dispatcher/pool",
  ProxyAgent: "dispatcher/proxy-agent",
};

/** As the entry point does, before any dispatcher is used. */
const methods = `
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import api from "undici/lib/api/index.js";
Object.assign(Dispatcher.prototype, api);`;

/** The same request as from the entry point, for a URL and options. */
const request = `
import api from "undici/lib/api/index.js";
import util from "undici/lib/core/util.js";
import errors from "undici/lib/core/errors.js";
import { getGlobalDispatcher } from "undici/lib/global.js";
export function request(to, options, handler) {
  if (typeof options === "function") return request(to, undefined, options);
  if (!to || (typeof to !== "string" && typeof to !== "object")) throw new errors.InvalidArgumentError("invalid url");
  if (options?.path != null || options?.agent) throw new errors.InvalidArgumentError("unsupported option: path or agent");
  const { dispatcher = getGlobalDispatcher(), ...rest } = options ?? (typeof to === "object" ? to : {});
  const { origin, pathname, search } = util.parseURL(to);
  return api.request.call(
    dispatcher,
    { ...rest, origin, path: pathname + (search ?? ""), method: rest.method || (rest.body ? "PUT" : "GET") },
    handler,
  );
}`;

const fetch = `
import { fetch as send } from "undici/lib/web/fetch/index.js";
export const fetch = (input, options) => send(input, options).catch((error) => {
  if (error && typeof error === "object") Error.captureStackTrace(error, fetch);
  throw error;
});`;

/** Source of the module that exports a name; undefined for a part that only the entry point has. */
export function partOf(name: string): string | undefined {
  if (name === "request") return request;
  if (name === "fetch") return fetch;
  if (!Object.hasOwn(classes, name)) return undefined;
  return `${methods}\nimport one from "undici/lib/${classes[name]}.js";\nexport { one as ${name} };`;
}

const prefix = "denrei:undici/";

/** The plugin. A module that imports a part of another kind, or types only, is not changed. */
export const partsOfUndici: Plugin = {
  name: "denrei:undici",
  transform: {
    filter: { code: /["']undici["']/ },
    handler(code) {
      const changed = code.replaceAll(imports, (text, list: string) => {
        const names = list
          .split(",")
          .map((one) => one.trim())
          .filter((one) => one !== "" && !one.startsWith("type "));
        const from = (one: string): string => one.split(/\s/)[0] ?? "";
        if (names.length === 0 || !names.every((one) => partOf(from(one)))) return text;
        return names.map((one) => `import { ${one} } from "${prefix}${from(one)}";`).join(" ");
      });
      return { code: changed, map: null };
    },
  },
  resolveId: {
    filter: { id: /^denrei:undici\// },
    async handler(id, importer) {
      const entry = await this.resolve("undici", importer);
      return entry && { id: `${id}?${dirname(entry.id)}`, moduleSideEffects: true };
    },
  },
  load: {
    filter: { id: /^denrei:undici\// },
    handler(id) {
      const [name = "", folder = ""] = id.slice(prefix.length).split("?");
      return partOf(name)?.replaceAll('"undici/lib/', `"${folder}/lib/`) ?? null;
    },
  },
};
