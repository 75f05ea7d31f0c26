/** Where the files of a function are: in the repository of Denrei, which is a project itself, and in other projects. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. In an installed package, a folder that is no project. */
export const repository: string = resolve(fileURLToPath(new URL("../..", import.meta.url)));

/** Whether a project is the repository, which has generated files. */
export const isRepository = (folder: string): boolean => resolve(folder) === repository;

/** Paths from the root of the project, and what differs in the text of its tests. */
export interface Layout {
  readonly origin: "repository" | "project";
  /** Ends the groups of kinds, unless the project has other kinds. */
  readonly domain: string;
  /** The folder with the cases of a function. */
  casesOf(name: string): string;
  testOf(name: string): string;
  /** The CRD of a kind of another project, for tests. */
  crdOf(names: { readonly plural: string; readonly group: string }): string;
}

const repositoryLayout: Layout = {
  origin: "repository",
  domain: "denrei.dev",
  casesOf: (name) => `test/fixtures/cases/${name}`,
  testOf: (name) => `test/e2e/${name}.test.ts`,
  crdOf: ({ plural, group }) => `test/fixtures/crds/${plural}.${group}.yaml`,
};

const projectLayout: Layout = {
  origin: "project",
  domain: "example.com",
  casesOf: (name) => `test/cases/${name}`,
  testOf: (name) => `test/${name}.test.ts`,
  crdOf: ({ plural, group }) => `test/crds/${plural}.${group}.yaml`,
};

/** The layout of the project in a folder. */
export const layoutOf = (folder: string): Layout => (isRepository(folder) ? repositoryLayout : projectLayout);

/** The objects of the first case of each function, as paths from the root of the project. */
export const samplesOf = (folder: string, functions: readonly string[]): string[] =>
  functions
    .map((name) => `${layoutOf(folder).casesOf(name)}/first/given.yaml`)
    .filter((path) => existsSync(join(folder, path)));
