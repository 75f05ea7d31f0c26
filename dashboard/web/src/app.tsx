/** The root component: login state and routing. */
import { ErrorBoundary, LocationProvider, Route, Router } from "preact-iso";
import { session } from "./api/session.ts";
import { Frame } from "./frame.tsx";
import { screens } from "./screens.ts";
import { SessionEnded, Unreachable, Welcome } from "./ui/login.tsx";
import { Notices, notify } from "./ui/notices.tsx";
import { Home, NotFound } from "./ui/states.tsx";

export function App() {
  const known = session.value;
  if (known === undefined) return null;
  if (known === "away") return <Unreachable />;
  if (known === "none") return <Welcome />;
  return (
    // The server handles paths below /auth/.
    <LocationProvider scope={/^\/(?!auth\/)/}>
      <ErrorBoundary onError={(error) => notify("bad", `Cannot show this screen: ${error.message}`)}>
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
