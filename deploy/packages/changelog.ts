/** The changelog as Keep a Changelog defines it: https://keepachangelog.com/en/1.1.0/ */

const unreleased = "## [Unreleased]";

/** Gives the unreleased changes a version and a date (`2026-01-31`). Throws when the section is empty. */
export function releaseChanges(changelog: string, version: string, date: string): string {
  if (sectionOf(changelog, "Unreleased") === undefined)
    throw new Error(`CHANGELOG.md has nothing under "${unreleased}": add the changes of ${version}`);
  return changelog.replace(unreleased, `${unreleased}\n\n## [${version}] - ${date}`);
}

/** The changes of a version, for the notes of its release. Throws when the changelog does not list it. */
export function notesOf(changelog: string, version: string): string {
  const notes = sectionOf(changelog, version);
  if (notes === undefined)
    throw new Error(
      `CHANGELOG.md has no section "## [${version}]": run npm run release -- version ${version}`,
    );
  return notes;
}

/** The text below the heading of a version; undefined without a heading or a text. */
function sectionOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^(?=## )/m);
  const found = sections.find((section) => section.startsWith(`## [${version}]`));
  const text = found?.slice(found.indexOf("\n")).trim();
  return text === "" ? undefined : text;
}
