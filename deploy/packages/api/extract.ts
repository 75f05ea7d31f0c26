/** Reads the public API from declarations, with API Extractor. */
import { mkdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type ExtractorMessage,
  ExtractorMessageCategory,
} from "@microsoft/api-extractor";
import type { EntryPoint } from "../workspaces.ts";
import { commentText } from "./comment.ts";
import { type Api, exportedIdentities, type Item, identityOf, isExported, isValue } from "./model.ts";

/** The public API, and what is wrong with it, a sentence each. */
export interface Extracted {
  readonly apis: readonly Api[];
  readonly problems: readonly string[];
}

/** Reads the API of the entry points. `folder` contains the declarations of their packages. */
export async function extractApis(folder: string, entryPoints: readonly EntryPoint[]): Promise<Extracted> {
  await mkdir(join(folder, reports), { recursive: true });
  const configs = entryPoints.map((entryPoint) => ({ entryPoint, config: configOf(folder, entryPoint) }));
  const [first] = configs;
  if (first === undefined) return { apis: [], problems: [] };
  // One program for all: it costs more than all the rest.
  const compilerState = CompilerState.create(first.config, {
    additionalEntryPoints: configs.map(({ config }) => config.mainEntryPointFilePath),
  });
  const apis: Api[] = [];
  const problems: string[] = [];
  for (const { entryPoint, config } of configs) {
    const messageCallback = (message: ExtractorMessage) => {
      message.handled = true;
      const problem = problemOf(message, folder);
      if (problem !== undefined) problems.push(problem);
    };
    Extractor.invoke(config, { localBuild: true, compilerState, messageCallback });
    apis.push(await apiOf(config, entryPoint));
  }
  const exporting = apis.filter(({ items }) => items.some(isExported));
  return {
    apis: exporting,
    problems: [...new Set([...problems, ...exporting.flatMap(undocumented), ...unexported(exporting)])],
  };
}

const reports = "reports";

function configOf(folder: string, { workspace, module, slug }: EntryPoint): ExtractorConfig {
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024", "esnext.disposable"],
    module: "nodenext",
    strict: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: ["node"],
  };
  const mainEntryPointFilePath = join(folder, workspace.folder, `${module}.d.ts`);
  const silent = { default: { logLevel: ExtractorLogLevel.None } };
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, workspace.folder, "package.json"),
    configObject: {
      projectFolder: join(folder, workspace.folder),
      mainEntryPointFilePath,
      newlineKind: "lf",
      compiler: { overrideTsconfig: { compilerOptions, files: [mainEntryPointFilePath] } },
      apiReport: {
        enabled: true,
        reportFileName: `${slug}.api.md`,
        reportFolder: join(folder, reports),
        reportTempFolder: join(folder, "temporary"),
      },
      docModel: {
        enabled: true,
        apiJsonFilePath: join(folder, reports, `${slug}.api.json`),
        includeForgottenExports: true,
      },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: { extractorMessageReporting: silent, tsdocMessageReporting: silent },
    },
  });
}

/** Doc comments have to be valid TSDoc. The other rules are below: API Extractor knows only one entry point at a time. */
function problemOf({ category, text, ...at }: ExtractorMessage, folder: string): string | undefined {
  if (category !== ExtractorMessageCategory.TSDoc && category !== ExtractorMessageCategory.Compiler)
    return undefined;
  const path = at.sourceFilePath === undefined ? "" : `${relative(folder, at.sourceFilePath)}: `;
  return `${path.replace(/\.d\.ts: $/, ".ts: ")}${text}`;
}

async function apiOf(config: ExtractorConfig, entryPoint: EntryPoint): Promise<Api> {
  const model = JSON.parse(await readFile(config.apiJsonFilePath, "utf8")) as Item;
  const report = await readFile(config.reportFilePath, "utf8");
  return {
    entryPoint,
    about: commentText(model.docComment ?? ""),
    items: model.members?.flatMap(({ members = [] }) => members) ?? [],
    report: report.replace(/^(## API Report File for) ".*"$/m, `$1 "${entryPoint.specifier}"`),
  };
}

const sourceOf = (identity: string): string => identity.replace(/\.d\.ts#.*/, ".ts");

const undocumented = ({ entryPoint, about, items }: Api): readonly string[] => [
  ...(about === ""
    ? [
        `${entryPoint.workspace.folder}/${entryPoint.module}.ts: ${entryPoint.specifier} has no description. Start the module with a comment that ends with @packageDocumentation.`,
      ]
    : []),
  ...items
    .filter((item) => isExported(item) && commentText(item.docComment ?? "") === "")
    .map(
      (item) =>
        `${sourceOf(identityOf(entryPoint, item))}: ${item.name} is public and has no doc comment. Write one.`,
    ),
];

/** Types that users meet but cannot name. A value behind `typeof` is named by the types made from it. */
function unexported(apis: readonly Api[]): readonly string[] {
  const exported = exportedIdentities(apis);
  return apis.flatMap(({ entryPoint, items }) =>
    items
      .filter((item) => !isValue(item) && !exported.has(identityOf(entryPoint, item)))
      .map((item) => {
        const source = sourceOf(identityOf(entryPoint, item));
        return `${source}: ${item.name} is part of a public type, but no entry point exports it. Export it, for example from ${entryPoint.specifier}, or change the type.`;
      }),
  );
}
