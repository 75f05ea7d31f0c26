/** Watched kinds and the bridge's progress with each. */
import type { BridgePosition, KindFigures } from "../../../../api/bus.ts";
import { Age } from "../../ui/age.tsx";
import { humanize, Status, type Tone } from "../../ui/status.tsx";
import { KindName } from "../kindname.tsx";
import { count } from "../numbers.ts";

/** A row per kind, or per namespace if the bridge watches single namespaces. Folded while all kinds are watched. */
export function Kinds({ kinds }: { kinds: readonly KindFigures[] }) {
  const isWatched = ({ bridges }: KindFigures) =>
    bridges.length > 0 && bridges.every(({ state }) => toneOf(state) !== "busy");
  const watched = kinds.filter(isWatched).length;
  return (
    <section class="card" aria-labelledby="kinds">
      <header>
        <h2 id="kinds">Kinds</h2>
        <span class="quiet small">Objects on the bus and the bridge's progress</span>
      </header>
      <details open={watched < kinds.length}>
        <summary>
          {watched === kinds.length ? `All ${kinds.length} kinds` : `${watched} of ${kinds.length} kinds`} are
          watched
        </summary>
        <div class="table">
          <table>
            <thead>
              <tr>
                <th scope="col">Kind</th>
                <th scope="col">Namespaces</th>
                <th scope="col" class="number">
                  Objects
                </th>
                <th scope="col">State</th>
                <th scope="col">Bridge</th>
                <th scope="col" class="number">
                  Resource version
                </th>
                <th scope="col">Moved</th>
              </tr>
            </thead>
            <tbody>
              {kinds.flatMap(({ kind, bridges }) =>
                bridges.length === 0
                  ? [<Unwatched key={kind} kind={kind} />]
                  : bridges.map((bridge) => (
                      <Row key={`${kind} ${bridge.namespace}`} kind={kind} bridge={bridge} />
                    )),
              )}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}

function Unwatched({ kind }: { kind: string }) {
  return (
    <tr>
      <th scope="row" data-label="Kind">
        <KindName of={kind} />
      </th>
      <td colSpan={6} data-label="State">
        <Status tone="off">Never watched</Status>
      </td>
    </tr>
  );
}

function Row({
  kind,
  bridge: { namespace, objects, holder, state, resourceVersion, time },
}: {
  kind: string;
  bridge: BridgePosition;
}) {
  return (
    <tr>
      <th scope="row" data-label="Kind">
        <KindName of={kind} />
      </th>
      <td data-label="Namespaces">{namespace ?? "all"}</td>
      <td class="number" data-label="Objects">
        {count(objects)}
      </td>
      <td data-label="State">
        <Status tone={toneOf(state)}>{humanize(capital(state))}</Status>
      </td>
      <td data-label="Bridge">{holder}</td>
      <td class="number" data-label="Resource version">
        {resourceVersion}
      </td>
      <td data-label="Moved">
        <Age of={time} />
      </td>
    </tr>
  );
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** The tone of a bridge's state. `absent`: the kind is not installed. */
function toneOf(state: string): Tone {
  if (state === "absent") return "off";
  return state === "watching" ? "good" : "busy";
}
