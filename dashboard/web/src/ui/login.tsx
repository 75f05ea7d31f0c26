/** Screens and notices about the login. */
import { useLocation } from "preact-iso";
import { loadSession, loginUrl } from "../api/session.ts";
import icon from "../icon.svg";

/** Messages by the `why` parameter with which the server redirects after a failed login. */
const messages = new Map([
  ["denied", "You canceled it, or the identity provider denied it."],
  ["interrupted", "It took too long, or you started another one. Your browser must accept cookies."],
  ["issuer-unavailable", "The identity provider does not respond. Try again in a few minutes."],
  ["bus-unavailable", "The dashboard cannot store sessions right now. Try again in a few minutes."],
]);
const defaultMessage = "Try again. If it keeps failing, see the dashboard's log.";

/** The screen before the login, and after a failed one. */
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
          Login failed. {messages.get(query.get("why") ?? "") ?? defaultMessage}
        </p>
      )}
      <a class="button primary" href={failed ? again : loginUrl()}>
        Log in
      </a>
    </main>
  );
}

/** The screen while the dashboard does not respond. */
export function Unreachable() {
  return (
    <main class="door">
      <h1>Denrei</h1>
      <p role="alert" class="notice bad">
        The dashboard does not respond. You are not logged out.
      </p>
      <button type="button" class="button primary" onClick={() => void loadSession()}>
        Try again
      </button>
    </main>
  );
}

/** A notice in front of the page when the session has ended. Unsaved input survives the new login. */
export function SessionEnded() {
  // The login leads back to the screen at which the user clicks.
  useLocation();
  return (
    <div class="notices" role="alert">
      <div class="notice busy">
        <span>Your session has ended.</span>
        {/* The target makes the browser follow the link: the router would take it for a screen. */}
        <a href={loginUrl()} target="_top">
          Log in again
        </a>
      </div>
    </div>
  );
}
