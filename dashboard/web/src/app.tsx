/** The root component: login state and routing. */
import { useEffect } from "preact/hooks";
import { ErrorBoundary, LocationProvider, Route, Router } from "preact-iso";
import { session } from "./api/session.ts";
import { Frame } from "./frame.tsx";
import { screens } from "./screens.ts";
import { frameText as text } from "./text.ts";
import { SessionEnded, Unreachable, Welcome } from "./ui/login.tsx";
import { isNamespaceSelected, startNamespace } from "./ui/namespace.tsx";
import { NewVersion } from "./ui/newversion.tsx";
import { Notices, notify } from "./ui/notices.tsx";
import { restorePlace } from "./ui/scroll.ts";
import { Home, NotFound } from "./ui/states.tsx";

export function App() {
  const known = session.value;
  const isLoggedIn = typeof known === "object";
  useEffect(() => {
    if (isLoggedIn) void startNamespace();
  }, [isLoggedIn]);
  if (known === undefined) return null;
  if (known === "away") return <Unreachable />;
  if (known === "none") return <Welcome />;
  return (
    // The server handles paths below /auth/.
    <LocationProvider scope={/^\/(?!auth\/)/}>
      <ErrorBoundary onError={(error) => notify("bad", text.screenFailed(error.message))}>
        <Frame>
          {isNamespaceSelected.value && (
            <Router onRouteChange={restorePlace}>
              {screens.map(({ path, component }) => (
                <Route key={path} path={path} component={component} />
              ))}
              <Route path="/" component={Home} />
              <Route default component={NotFound} />
            </Router>
          )}
        </Frame>
        <Notices>{known !== "ended" && <NewVersion />}</Notices>
        {known === "ended" && <SessionEnded />}
      </ErrorBoundary>
    </LocationProvider>
  );
}
