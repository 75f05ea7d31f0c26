/** Finds circular imports: files of a circle cannot be read, tested, or moved without each other. */
import { importsOf, resolved, type SourceFile } from "./imports.ts";

/** Circles, as paths that end with their first file; at most one per starting file. Type imports count, because readers follow them too. */
export function circles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const imported = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ specifier, of }) => of === "names" && specifier.startsWith("."))
        .map(({ specifier }) => resolved(file.path, specifier)),
    ]),
  );
  return circlesIn(imported);
}

/** The first circle that is found from each node of a graph on. */
function circlesIn(imported: ReadonlyMap<string, Iterable<string>>): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (node: string): void => {
    if (way.includes(node)) found.push([...way.slice(way.indexOf(node)), node]);
    if (way.includes(node) || done.has(node)) return;
    way.push(node);
    for (const next of imported.get(node) ?? []) visit(next);
    way.pop();
    done.add(node);
  };
  for (const node of imported.keys()) visit(node);
  return found;
}

/**
 * Circles between the folders directly inside of a folder, as the folders that they go through. Files directly in the folder and tests
 * do not count: they may use every folder inside of it.
 */
export function folderCircles(files: readonly SourceFile[], parent: string): readonly (readonly string[])[] {
  const folderOf = (path: string): string | undefined => {
    const [folder, ...rest] = path.startsWith(`${parent}/`) ? path.slice(parent.length + 1).split("/") : [];
    return rest.length > 0 ? folder : undefined;
  };
  const imported = new Map<string, Set<string>>();
  for (const file of files) {
    const from = folderOf(file.path);
    if (from === undefined || file.path.endsWith(".test.ts")) continue;
    const targets = imported.get(from) ?? new Set();
    imported.set(from, targets);
    for (const { specifier, of } of importsOf(file)) {
      const to = specifier.startsWith(".") ? folderOf(resolved(file.path, specifier)) : undefined;
      if (of === "names" && to !== undefined && to !== from) targets.add(to);
    }
  }
  return circlesIn(imported);
}
