/** Screens and notices about the login. */
import { useLocation } from "preact-iso";
import { loadSession, loginUrl } from "../api/session.ts";
import icon from "../icon.svg";
import { loginText as text } from "./text.ts";

/** The screen before the login, and after a failed one. */
export function Welcome() {
  const failed = location.pathname === "/login-failed";
  const query = new URLSearchParams(failed ? location.search : "");
  const again = `/auth/login?${new URLSearchParams({ to: query.get("to") ?? "/" })}`;
  return (
    <main class="door">
      <img src={icon} alt="" />
      <h1>{text.product}</h1>
      <p class="quiet">{text.about}</p>
      {failed && (
        <p role="alert" class="notice bad">
          {text.failed} {text.reasons.get(query.get("why") ?? "") ?? text.otherReason}
        </p>
      )}
      <a class="button primary" href={failed ? again : loginUrl()}>
        {text.logIn}
      </a>
    </main>
  );
}

/** The screen while the dashboard does not respond. */
export function Unreachable() {
  return (
    <main class="door">
      <h1>{text.product}</h1>
      <p role="alert" class="notice bad">
        {text.unreachable}
      </p>
      <button type="button" class="button primary" onClick={() => void loadSession()}>
        {text.retry}
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
        <span>{text.ended}</span>
        {/* The target makes the browser follow the link: the router would take it for a screen. */}
        <a href={loginUrl()} target="_top">
          {text.logInAgain}
        </a>
      </div>
    </div>
  );
}
