/** Web addresses of the GitHubs on which Apps can be created. */

/** The public GitHub. Objects leave its address out. */
export const publicGitHub = "https://github.com";

/** The addresses, each once, without a trailing slash or the path of the API. */
export const webAddresses = (urls: readonly string[]): readonly string[] => [
  ...new Set(urls.map((url) => url.trim().replace(/(\/api\/v3)?\/*$/, ""))),
];

/** The field `url` of a GitHubApp. */
export const specUrl = (url: string): { readonly url?: string } => (url === publicGitHub ? {} : { url });
