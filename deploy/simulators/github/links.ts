/**
 * A stand-in for GitHub Enterprise's links: it has the API below `/api/v3`, of which the package `emulate` knows nothing.
 */

/** Below it is the API. */
export const apiPrefix = "/api/v3";

/** What links to the API begin with; all others lead to pages for people. */
const roots = ["repos", "users", "orgs", "app", "installation"];

/** JSON in which the links to the API at `url` have the prefix. */
export const prefixedLinks = (text: string, url: string): string =>
  roots.reduce((done, root) => done.replaceAll(`"${url}/${root}/`, `"${url}${apiPrefix}/${root}/`), text);

/** A header `Link`, which names the host that was asked, with the prefix. */
export const prefixedLinkHeader = (link: string): string =>
  link.replaceAll(/<(https?:\/\/[^/>]+)\//g, `<$1${apiPrefix}/`);
