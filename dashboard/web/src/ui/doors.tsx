/** What is seen by whoever is not logged in. */
import { loadSession, loginUrl } from "../api/session.ts";
import icon from "../icon.svg";

/** What there is to say about a login that failed; the server names it by one of these words. */
const troubles = new Map([
  ["denied", "The login was broken off, or the issuer does not let you in."],
  [
    "interrupted",
    "The login took too long, or another one was begun. Your browser has to take cookies for it.",
  ],
  ["issuer-away", "Where you log in does not answer at the moment. Try it again in a while."],
  ["bus-away", "The dashboard can not keep who is logged in at the moment. Try it again in a while."],
]);
const otherTrouble = "Try it again; if that does not help, the dashboard's log says why.";

/** The first thing that is seen. */
export function Welcome() {
  const failed = location.pathname === "/login-failed";
  const query = new URLSearchParams(failed ? location.search : "");
  const again = `/auth/login?${new URLSearchParams({ to: query.get("to") ?? "/" })}`;
  return (
    <main class="door">
      <img src={icon} alt="" />
      <h1>Denrei</h1>
      <p class="quiet">Applications, their builds and previews, and the bus at work.</p>
      {failed && (
        <p role="alert" class="notice bad">
          The login did not succeed. {troubles.get(query.get("why") ?? "") ?? otherTrouble}
        </p>
      )}
      <a class="button primary" href={failed ? again : loginUrl()}>
        Log in
      </a>
    </main>
  );
}

/** Nobody can say who is logged in. */
export function Unreachable() {
  return (
    <main class="door">
      <h1>Denrei</h1>
      <p role="alert" class="notice bad">
        The dashboard does not answer at the moment. Nobody is logged out by it.
      </p>
      <button type="button" class="button primary" onClick={() => void loadSession()}>
        Try again
      </button>
    </main>
  );
}

/** In front of the page when the session has ended: what was typed is still there behind it, and after the login as well. */
export function SessionEnded() {
  return (
    <div class="notices" role="alert">
      <div class="notice busy">
        <span>Your session has ended.</span>
        {/* With a target it is the browser that goes there: the router takes it for a screen of the page. */}
        <a href={loginUrl()} target="_top">
          Log in again
        </a>
      </div>
    </div>
  );
}
