/** Where a browser may be sent on to after a login. */

/** More than any address of the page, and little enough for a cookie. Letters. */
const maxLength = 1000;
/** What is behind them is no page. */
const notPages = /^\/(auth|api)(\/|$)/;

/** A path of a page here; `/` for whatever else a link may have said, so that nobody is sent on to another site. */
export function pathWithin(url: string, to: string | undefined): string {
  if (to === undefined || !URL.canParse(to, url)) return "/";
  const { origin, username, password, pathname, search, hash } = new URL(to, url);
  const path = `${pathname}${search}${hash}`;
  // Two slashes begin the name of a host.
  if (origin !== url || `${username}${password}` !== "" || pathname.startsWith("//")) return "/";
  return notPages.test(pathname) || path.length > maxLength ? "/" : path;
}
