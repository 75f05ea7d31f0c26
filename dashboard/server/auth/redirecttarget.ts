/** Validation of redirect targets after a login. */

/** Longer than any URL of the page, and short enough for a cookie. Characters. */
const maxLength = 1000;
/** These paths are not pages. */
const notPages = /^\/(auth|api)(\/|$)/;

/** The path if it is a page of this dashboard, else `/`, so that a link cannot redirect to another site. */
export function redirectPath(url: string, to: string | undefined): string {
  if (to === undefined || !URL.canParse(to, url)) return "/";
  const { origin, username, password, pathname, search, hash } = new URL(to, url);
  const path = `${pathname}${search}${hash}`;
  // A leading `//` would name another host.
  if (origin !== url || `${username}${password}` !== "" || pathname.startsWith("//")) return "/";
  return notPages.test(pathname) || path.length > maxLength ? "/" : path;
}
