/** Workers and their in-flight objects. */
import type { InFlightReconcile, Working, WorkingReplica } from "../../../../api/bus.ts";
import { fastPollMillis, useQuery } from "../../api/query.ts";
import { Age } from "../../ui/age.tsx";
import { Details } from "../../ui/details.tsx";
import { namespace } from "../../ui/namespace.tsx";
import { QueryResult } from "../../ui/queryresult.tsx";
import { Status } from "../../ui/status.tsx";
import { traceAddress } from "../addresses.ts";
import { NeedsRole } from "../forbidden.tsx";
import { ordinal } from "../numbers.ts";
import { ObjectLink } from "../objects.tsx";
import { workersText as text } from "./text.ts";

/** A row per in-flight object and per idle worker: of all functions, or of one. */
export function WorkersTable({ fn }: { fn?: string }) {
  const query = new URLSearchParams(namespace.value ? { namespace: namespace.value } : {});
  const result = useQuery<Working>(`/api/bus/working?${query}`, fastPollMillis);
  return (
    <section class="card" aria-labelledby="working">
      <header>
        <h2 id="working">{text.title}</h2>
        <span class="quiet small">{text.about}</span>
      </header>
      <QueryResult
        result={result}
        refused={({ status, message }) => (
          <div role="status" class="quiet">
            {status === 403 ? (
              <p>
                {text.forbidden} <NeedsRole of="view" />
              </p>
            ) : (
              <>
                <p>{text.notShown}</p>
                <Details message={message} />
              </>
            )}
          </div>
        )}
      >
        {({ replicas: all }) => {
          const replicas = fn === undefined ? all : all.flatMap((replica) => partOf(replica, fn));
          return replicas.length === 0 ? (
            <p class="quiet">
              {text.none} <code>denrei worker</code>
            </p>
          ) : (
            <div class="table">
              <table>
                <thead>
                  <tr>
                    <th scope="col">{text.replica}</th>
                    <th scope="col">{text.function}</th>
                    <th scope="col">{text.object}</th>
                    <th scope="col">{text.since}</th>
                    <th scope="col">{text.attempt}</th>
                  </tr>
                </thead>
                <tbody>
                  {replicas.flatMap((replica) =>
                    replica.inFlight.length === 0
                      ? [<IdleRow key={replica.replica} of={replica} />]
                      : replica.inFlight.map((inFlight) => (
                          <Row key={keyOf(replica, inFlight)} replica={replica.replica} of={inFlight} />
                        )),
                  )}
                </tbody>
              </table>
            </div>
          );
        }}
      </QueryResult>
    </section>
  );
}

/** The part of a worker that belongs to one function; empty if the worker does not have the function. */
const partOf = ({ replica, functions, inFlight }: WorkingReplica, fn: string): readonly WorkingReplica[] =>
  functions.includes(fn)
    ? [{ replica, functions: [fn], inFlight: inFlight.filter((one) => one.function === fn) }]
    : [];

const keyOf = ({ replica }: WorkingReplica, { function: fn, object }: InFlightReconcile): string =>
  `${replica} ${fn} ${object.namespace}/${object.name}`;

/** A worker with more functions shows their number; a worker of all functions has about a dozen. */
const maxNamed = 3;

function IdleRow({ of: { replica, functions } }: { of: WorkingReplica }) {
  return (
    <tr>
      <th scope="row" data-label={text.replica}>
        {replica}
      </th>
      <td data-label={text.function} title={functions.join(", ")}>
        {functions.length > maxNamed ? text.functions(functions.length) : functions.join(", ")}
      </td>
      <td data-label={text.object} colSpan={3}>
        <Status tone="off">{text.idle}</Status>
      </td>
    </tr>
  );
}

function Row({
  replica,
  of: { function: fn, object, since, attempt, trace },
}: {
  replica: string;
  of: InFlightReconcile;
}) {
  return (
    <tr>
      <th scope="row" data-label={text.replica}>
        {replica}
      </th>
      <td data-label={text.function}>{fn}</td>
      <td data-label={text.object}>
        <ObjectLink of={object} />
      </td>
      <td data-label={text.since}>
        <span>
          <Age of={since} />
          {trace !== null && (
            <>
              {" "}
              <a class="small" href={traceAddress(trace)}>
                {text.trace}
              </a>
            </>
          )}
        </span>
      </td>
      <td data-label={text.attempt}>{ordinal(attempt + 1)}</td>
    </tr>
  );
}
