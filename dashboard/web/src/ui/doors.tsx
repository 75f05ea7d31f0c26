/** What is seen by whoever is not logged in. */
import { loginUrl } from "../api/session.ts";
import icon from "../icon.svg";

/** The first thing that is seen. */
export function Welcome() {
  const failed = location.pathname === "/login-failed";
  return (
    <main class="door">
      <img src={icon} alt="" />
      <h1>Denrei</h1>
      <p class="quiet">Applications, their builds and previews, and the bus at work.</p>
      {failed && (
        <p role="alert" class="notice bad">
          The login did not succeed. Try it again; if that does not help, the dashboard's log says why.
        </p>
      )}
      <a class="button primary" href={failed ? "/auth/login" : loginUrl()}>
        Log in
      </a>
    </main>
  );
}

/** In front of the page when the session has ended: what was typed is still there behind it. */
export function SessionEnded() {
  return (
    <div class="notices" role="alert">
      <div class="notice busy">
        <span>Your session has ended.</span>
        <a href={loginUrl()}>Log in again</a>
      </div>
    </div>
  );
}
