/** Files that import each other in a circle: none of them can be read, tested or moved without the others. */
import { importsOf, resolved, type SourceFile } from "./imports.ts";

/** The first circle that is found from each file on, as the files that it goes through. Types count: who reads the code follows them as well. */
export function circles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const imported = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ specifier, of }) => of === "names" && specifier.startsWith("."))
        .map(({ specifier }) => resolved(file.path, specifier)),
    ]),
  );
  const found: (readonly string[])[] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (path: string): void => {
    if (way.includes(path)) found.push([...way.slice(way.indexOf(path)), path]);
    if (way.includes(path) || done.has(path)) return;
    way.push(path);
    for (const next of imported.get(path) ?? []) visit(next);
    way.pop();
    done.add(path);
  };
  for (const { path } of files) visit(path);
  return found;
}
