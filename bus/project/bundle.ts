/** The folder of a bundle (`denrei build`), which has the project's configuration beside the program. */

let folder: string | undefined;

/** Runs this process from a bundle: it uses the configuration in this folder, wherever it was started. */
export function runFromBundle(path: string): void {
  folder = path;
}

/** The folder of the bundle that this process runs from; undefined if it runs from sources or packages. */
export const bundleFolder = (): string | undefined => folder;
