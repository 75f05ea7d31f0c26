/** The screens that the user has visited in this tab, the newest first. A logout forgets them. */

const storedAs = "denrei.visited";
/** Many of them are not screens of objects. */
const maxVisited = 40;

/** The paths of the visited screens. */
export const visitedPaths = (): readonly string[] => JSON.parse(sessionStorage.getItem(storedAs) ?? "[]");

/** Remembers a screen. */
export function rememberVisit(path: string): void {
  const paths = [path, ...visitedPaths().filter((known) => known !== path)];
  sessionStorage.setItem(storedAs, JSON.stringify(paths.slice(0, maxVisited)));
}
