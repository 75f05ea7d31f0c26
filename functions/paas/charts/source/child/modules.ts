/** Controls imports in this process: of the chart, of modules of the site, and of the packages that they use. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import Module, {
  type LoadHookContext,
  type ResolveFnOutput,
  type ResolveHookContext,
  registerHooks,
} from "node:module";
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { importedNames, textWithNames } from "./importednames.ts";
import { kubeExports } from "./k8skinds.ts";
import { stripped } from "./typescript.ts";

/** Address of the chart, also in stack traces. It is not a file: the first request contains the source. */
export const chartUrl = "chart:main";
/** Prefixes and addresses of generated modules. */
const k8sUrl = "chart:k8s";
const typesUrl = "chart:types";
const namesUrl = "chart:names/";

/** Loaded once, even if modules of the site have their own copy: cdk8s identifies its objects by class. */
const packages: Readonly<Record<string, string>> = {
  cdk8s: import.meta.resolve("cdk8s"),
  constructs: import.meta.resolve("constructs"),
};
/** Modules of Node that only compute. */
const pure: readonly string[] = ["assert", "buffer", "crypto", "path", "querystring", "url", "util"];
/** Modules of Node that packages import. They are replaced by a module that throws when it is used. */
const replaced: readonly string[] = ["child_process", "fs", "os"];
const dependencies: readonly string[] = ["fast-json-patch", "yaml"];
/** From modoki-operator: the types of an Application, in a file next to the chart. */
const typesOnly: readonly string[] = ["application"];

const here = new URL(".", import.meta.url).href;
const isOurs = (url: string): boolean => url.startsWith(here);
/** Of these modules: they are compiled in a package, and sources in the repository. */
const extension = extname(import.meta.filename);
const ownModule = (name: string) => ({ url: `${here}${name}${extension}`, shortCircuit: true });
const generated = (url: string) => ({ url, format: "module", shortCircuit: true });

/** Names that a module imports, by its address and the specifier. */
const importsByModule = new Map<string, ReadonlyMap<string, readonly string[]>>();
/** Generated modules with the names that a module imports from another one. */
const named: { readonly from: string; readonly specifier: string; readonly names: readonly string[] }[] = [];

let chartSource: string | undefined;

/** Sets the source of the chart. In TypeScript, imported names may be types. */
export function provideChart(source: string, language: "ts" | "js"): void {
  chartSource = source;
  if (language === "ts") importsByModule.set(chartUrl, importedNames(source));
}

let sealed = false;

/**
 * Ends the setup, after which modules of this folder get no more rights than a chart, and no hooks can be registered. CommonJS
 * modules of the site have access to Node's `Module`.
 */
export function sealModules(): void {
  sealed = true;
  for (const name of ["register", "registerHooks"]) Reflect.deleteProperty(Module, name);
}

type Next = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

interface Import {
  /** Address of the importing module. */
  readonly from: string;
  readonly specifier: string;
  readonly context: ResolveHookContext;
  /** Node's own resolution. */
  readonly next: Next;
}

/** Address of the site's folder, with a slash at the end; undefined for a site without modules. */
type SiteFolder = string | undefined;

/**
 * Restricts imports to the modules above and those of the site's folder, however they are requested. The folder has `node_modules`
 * and `imports`, and may be missing.
 */
export function restrictModules(folder: string | undefined): void {
  const site: SiteFolder = folder === undefined ? undefined : `${pathToFileURL(realpathSync(folder)).href}/`;
  registerHooks({
    resolve: (specifier, context, next) =>
      resolve({ from: context.parentURL ?? "", specifier, context, next }, site),
    load(url, context: LoadHookContext, next) {
      const source = textOf(url) ?? siteSource(url, site);
      return source === undefined ? next(url, context) : { format: "module", source, shortCircuit: true };
    },
  });
}

/** Resolves imports of modules of this folder and of generated modules, and passes on all others. */
function resolve(request: Import, site: SiteFolder): ResolveFnOutput {
  const { from, specifier, context, next } = request;
  if (isOurs(from)) {
    if (specifier === chartUrl) return generated(specifier);
    return sealed ? resolveLate(request, site) : next(specifier, context);
  }
  if (from === k8sUrl || (from.startsWith(namesUrl) && isOurs(specifier)))
    return { url: specifier, shortCircuit: true };
  if (from.startsWith(namesUrl)) {
    const origin = named[Number(from.slice(namesUrl.length))]?.from ?? "";
    return resolveForeign({ ...request, from: origin }, site);
  }
  return resolveNames(request, site);
}

/** Resolves an import of TypeScript through a generated module with the imported names, and any other import directly. */
function resolveNames(request: Import, site: SiteFolder): ResolveFnOutput {
  const { from, specifier } = request;
  const names = importsByModule.get(from)?.get(specifier);
  // JSON exports no names, and the module in between would need the import attribute as well.
  if (names === undefined || specifier.endsWith(".json")) return resolveForeign(request, site);
  if (names.length === 0) return generated(typesUrl);
  // Resolve now, so that an error is reported for the import itself and not for the generated module.
  resolveForeign(request, site);
  named.push({ from, specifier, names });
  return generated(`${namesUrl}${named.length - 1}`);
}

/** Resolves imports of the chart, of modules of the site, and of packages. */
function resolveForeign(request: Import, site: SiteFolder): ResolveFnOutput {
  const { from, specifier, context, next } = request;
  const name = specifier.startsWith("node:") ? specifier.slice("node:".length) : specifier;
  const isFile = from.startsWith("file:");
  const isSite = site !== undefined && from.startsWith(site);
  if (isFile && name === "process") return ownModule("restrictedprocess");
  if (isFile && replaced.includes(name)) return ownModule("forbiddenmodule");
  if (pure.includes(name)) return next(`node:${name}`, context);
  if (Object.hasOwn(packages, specifier)) return { url: packages[specifier] ?? "", shortCircuit: true };
  if (isFile && !isSite && (specifier.startsWith(".") || dependencies.includes(specifier)))
    return next(specifier, context);
  const found = isSite
    ? (siteFile(from, specifier, site) ?? resolveInSite(request, from, site))
    : isFile
      ? undefined
      : resolveForChart(request, site);
  if (found !== undefined) return found;
  throw new Error(refusal(specifier, site));
}

/** Resolves an import of the chart. Leading `./` and `../` are ignored, because the original location of the chart is unknown. */
function resolveForChart(request: Import, site: SiteFolder): ResolveFnOutput | undefined {
  const { specifier } = request;
  const path = specifier.replace(/^(?:\.{1,2}\/)+/, "").replace(/\.[jt]s$/, "");
  const isRelative = specifier.startsWith(".");
  if (site !== undefined) {
    const found =
      isRelative || path.startsWith("imports/")
        ? (siteFile(site, `./${path}`, site) ?? siteFile(site, `./imports/${path}`, site))
        : resolveInSite(request, `${site}chart.js`, site);
    if (found) return found;
  }
  if (path === "imports/k8s" || path === "k8s") return generated(k8sUrl);
  return isRelative && typesOnly.includes(path) ? generated(typesUrl) : undefined;
}

/** Node's own resolution from `parentURL`, limited to files in the site's folder. */
function resolveInSite(
  { specifier, context, next }: Import,
  parentURL: string,
  site: SiteFolder,
): ResolveFnOutput | undefined {
  try {
    const found = next(specifier, { ...context, parentURL });
    return site !== undefined && found.url.startsWith(site) ? found : undefined;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_PACKAGE_PATH_NOT_EXPORTED")
      throw error;
    return undefined;
  }
}

/** Resolves imports of this folder's modules that are loaded after the setup. */
function resolveLate({ specifier, context, next }: Import, site: SiteFolder): ResolveFnOutput {
  if (Object.hasOwn(packages, specifier)) return { url: packages[specifier] ?? "", shortCircuit: true };
  const found = specifier.startsWith(".") ? next(specifier, context) : undefined;
  if (found && isOurs(found.url)) return found;
  throw new Error(refusal(specifier, site));
}

/** A file of the site by its path. TypeScript omits the extension, or writes `.js`. */
function siteFile(from: string, specifier: string, site: SiteFolder): ResolveFnOutput | undefined {
  if (!specifier.startsWith(".") || site === undefined) return undefined;
  const plain = new URL(specifier, from).href;
  if (!plain.startsWith(site)) return undefined;
  const bare = plain.replace(/\.[jt]s$/, "");
  const url = [`${bare}.ts`, `${bare}/index.ts`].find((one) => existsSync(fileURLToPath(one)));
  if (url !== undefined) return { url, format: "module", shortCircuit: true };
  const script = [plain, `${bare}.js`, `${bare}/index.js`].find(
    (one) => /\.(?:[cm]?js|json)$/.test(one) && existsSync(fileURLToPath(one)),
  );
  return script === undefined ? undefined : { url: script, shortCircuit: true };
}

/** JavaScript of a TypeScript file in the site's folder. Notes which names it imports. */
function siteSource(url: string, site: SiteFolder): string | undefined {
  if (site === undefined || !url.startsWith(site) || !url.endsWith(".ts")) return undefined;
  const { text } = stripped(readFileSync(fileURLToPath(url), "utf8"));
  importsByModule.set(url, importedNames(text));
  return text;
}

/** Source of a generated module. */
function textOf(url: string): string | undefined {
  if (url === chartUrl) return chartSource ?? "";
  if (url === typesUrl) return "export {};";
  if (url === k8sUrl)
    return `import { k8s } from ${JSON.stringify(`${here}k8s${extension}`)};\n${kubeExports.map((name) => `export const ${name} = k8s.${name};`).join("\n")}`;
  if (!url.startsWith(namesUrl)) return undefined;
  const { specifier = "", names = [] } = named[Number(url.slice(namesUrl.length))] ?? {};
  return textWithNames(specifier, names, `${here}missingexport${extension}`);
}

const refusal = (specifier: string, site: string | undefined): string =>
  `charts may import ${[...Object.keys(packages), "imports/k8s", ...pure.map((each) => `node:${each}`)].join(", ")}, and modules that the site provides, ` +
  `but not ${JSON.stringify(specifier)}. ` +
  (site === undefined
    ? "This site provides none: set DENREI_CHART_MODULES on the workers of modoki-application to a folder with node_modules and imports (docs/paas.md). "
    : `Put it in node_modules or imports of the folder ${fileURLToPath(site)} (DENREI_CHART_MODULES), or copy what you need into the chart. `) +
  "If you import only types, write import type. A chart can only compute objects.";
