/** Adds GitHub Enterprise's prefix `/api/v3` to links in responses, which the package `emulate` does not support. */

/** Path prefix of the API. */
export const apiPrefix = "/api/v3";

/** First path segments of API links; all other links lead to web pages. */
const roots = ["repos", "users", "orgs", "app", "installation"];

/** Adds the prefix to API links in JSON; `url` is the server's URL. */
export const prefixedLinks = (text: string, url: string): string =>
  roots.reduce((done, root) => done.replaceAll(`"${url}/${root}/`, `"${url}${apiPrefix}/${root}/`), text);

/** Adds the prefix to the links of a `Link` header, which names the requested host. */
export const prefixedLinkHeader = (link: string): string =>
  link.replaceAll(/<(https?:\/\/[^/>]+)\//g, `<$1${apiPrefix}/`);
