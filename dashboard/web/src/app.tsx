/** The page: who may see it, and which screen an address is of. */
import { ErrorBoundary, LocationProvider, Route, Router } from "preact-iso";
import { session } from "./api/session.ts";
import { screens } from "./screens.ts";
import { SessionEnded, Unreachable, Welcome } from "./ui/doors.tsx";
import { Frame } from "./ui/frame.tsx";
import { Notices, notify } from "./ui/notices.tsx";
import { Home, NotFound } from "./ui/states.tsx";

/** Everything. */
export function App() {
  const known = session.value;
  if (known === undefined) return null;
  if (known === "away") return <Unreachable />;
  if (known === "none") return <Welcome />;
  return (
    // Logging in, here and at GitHub, is for the server and not for a screen.
    <LocationProvider scope={/^\/(?!auth\/)/}>
      <ErrorBoundary onError={(error) => notify("bad", `This screen can not be shown: ${error.message}`)}>
        <Frame>
          <Router>
            {screens.map(({ path, component }) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route path="/" component={Home} />
            <Route default component={NotFound} />
          </Router>
        </Frame>
        <Notices />
        {known === "ended" && <SessionEnded />}
      </ErrorBoundary>
    </LocationProvider>
  );
}
