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
  const found: (readonly string[])[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file]);
    if (path.includes(file) || done.has(file)) return;
    path.push(file);
    for (const next of imported.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of files) visit(file.path);
  return found;
}
