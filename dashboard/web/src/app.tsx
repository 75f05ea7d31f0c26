/** The page: who may see it, and which screen an address is of. */
import { ErrorBoundary, LocationProvider, lazy, Route, Router } from "preact-iso";
import { session } from "./api/session.ts";
import { SessionEnded, Welcome } from "./ui/doors.tsx";
import { Frame } from "./ui/frame.tsx";
import { NotFound } from "./ui/states.tsx";

const ApplicationList = lazy(async () => (await import("./applications/list.tsx")).ApplicationList);

/** Everything. */
export function App() {
  const known = session.value;
  if (known === undefined) return null;
  if (known === "none") return <Welcome />;
  return (
    <LocationProvider>
      <ErrorBoundary>
        <Frame>
          <Router>
            <Route path="/" component={ApplicationList} />
            <Route path="/applications" component={ApplicationList} />
            <Route default component={NotFound} />
          </Router>
        </Frame>
        {known === "ended" && <SessionEnded />}
      </ErrorBoundary>
    </LocationProvider>
  );
}
