/** Watched kinds and the bridge's progress with each. */
import type { BridgePosition, KindFigures } from "../../../../api/bus.ts";
import { Age } from "../../ui/age.tsx";
import { humanize, Status, type Tone } from "../../ui/status.tsx";
import { KindName } from "../kindname.tsx";
import { count } from "../numbers.ts";
import { kindsText as text } from "./text.ts";

/** A row per kind, or per namespace if the bridge watches single namespaces. Folded while all kinds are watched. */
export function Kinds({ kinds }: { kinds: readonly KindFigures[] }) {
  const isWatched = ({ bridges }: KindFigures) =>
    bridges.length > 0 && bridges.every(({ state }) => toneOf(state) !== "busy");
  const watched = kinds.filter(isWatched).length;
  return (
    <section class="card" aria-labelledby="kinds">
      <header>
        <h2 id="kinds">{text.title}</h2>
        <span class="quiet small">{text.about}</span>
      </header>
      <details open={watched < kinds.length}>
        <summary>{text.watched(watched, kinds.length)}</summary>
        <div class="table">
          <table>
            <thead>
              <tr>
                <th scope="col">{text.kind}</th>
                <th scope="col">{text.namespaces}</th>
                <th scope="col" class="number">
                  {text.objects}
                </th>
                <th scope="col">{text.state}</th>
                <th scope="col">{text.bridge}</th>
                <th scope="col" class="number">
                  {text.resourceVersion}
                </th>
                <th scope="col">{text.moved}</th>
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
      <th scope="row" data-label={text.kind}>
        <KindName of={kind} />
      </th>
      <td colSpan={6} data-label={text.state}>
        <Status tone="off">{text.neverWatched}</Status>
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
      <th scope="row" data-label={text.kind}>
        <KindName of={kind} />
      </th>
      <td data-label={text.namespaces}>{namespace ?? text.allNamespaces}</td>
      <td class="number" data-label={text.objects}>
        {count(objects)}
      </td>
      <td data-label={text.state}>
        <Status tone={toneOf(state)}>{humanize(capital(state))}</Status>
      </td>
      <td data-label={text.bridge}>{holder}</td>
      <td class="number" data-label={text.resourceVersion}>
        {resourceVersion}
      </td>
      <td data-label={text.moved}>
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
