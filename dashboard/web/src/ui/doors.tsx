/** What is seen by whoever is not logged in. */
import { loginUrl } from "../api/session.ts";

/** The first thing that is seen. */
export function Welcome() {
  const failed = location.pathname === "/login-failed";
  return (
    <main class="door">
      <h1>Denrei</h1>
      <p>Applications, their builds and previews, and the bus at work.</p>
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

/** Over the page, when the session has ended: what was typed is still there. */
export function SessionEnded() {
  return (
    <div class="ended" role="alertdialog" aria-label="Your session has ended">
      <p>Your session has ended.</p>
      <a class="button primary" href={loginUrl()}>
        Log in again
      </a>
    </div>
  );
}
