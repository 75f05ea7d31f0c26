/** The screen of a dead letter. */

import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { DeadLetterDetail } from "../../../../api/bus.ts";
import { slowPollMillis, useQuery } from "../../api/query.ts";
import { Age } from "../../ui/age.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Head } from "../../ui/head.tsx";
import { QueryResult } from "../../ui/queryresult.tsx";
import { humanize, Status } from "../../ui/status.tsx";
import "../bus.css";
import {
  deadLetterPath,
  deadLettersAddress,
  noNamespace,
  objectAddress,
  traceAddress,
} from "../addresses.ts";
import { BusRefused } from "../forbidden.tsx";
import { Cause, ObjectLink } from "../objects.tsx";
import { Replay } from "./replay.tsx";
import { ReplayResult } from "./replayresult.tsx";

export function DeadLetterScreen() {
  const { function: fn = "", namespace = "", name = "" } = useRoute().params;
  const path = deadLetterPath(fn, { namespace: namespace === noNamespace ? "" : namespace, name });
  const result = useQuery<DeadLetterDetail>(`/api/bus${path}`, slowPollMillis);
  const [replayed, setReplayed] = useState<DeadLetterDetail>();
  const { value } = result;
  const again = () => {
    setReplayed(undefined);
    result.reload();
  };
  return (
    <>
      <Head
        title={name}
        trail={[deadLettersAddress(), "Dead letters"]}
        status={!replayed && value && <Status tone="bad">{humanize(value.reason)}</Status>}
      >
        {value && !replayed && (
          <Replay deadLetters={[value]} label="Replay" onDone={() => setReplayed(value)} />
        )}
      </Head>
      {replayed && <ReplayResult of={replayed} onAgain={again} />}
      {replayed ? (
        <Letter of={replayed} />
      ) : (
        <QueryResult
          result={result}
          refused={(error) =>
            error.status === 404 ? (
              <Missing fn={fn} name={name} />
            ) : (
              <BusRefused what="this dead letter" error={error} />
            )
          }
        >
          {(letter) => <Letter of={letter} />}
        </QueryResult>
      )}
    </>
  );
}

function Missing({ fn, name }: { fn: string; name: string }) {
  return (
    <div class="empty">
      <h2>
        No dead letter of {fn} for {name}
      </h2>
      <p>It was replayed, or its object changed and was reconciled.</p>
      <a href={deadLettersAddress()}>All dead letters</a>
    </div>
  );
}

function Letter({ of: letter }: { of: DeadLetterDetail }) {
  const { object, message, stack, attempts, time, replica, cause, trace } = letter;
  const screen = objectAddress(object);
  return (
    <div class="columns">
      <section class="card" aria-labelledby="what">
        <h2 id="what">Error</h2>
        <p class="wrapped">{message}</p>
        {stack && (
          <details open>
            <summary>Stack</summary>
            <pre class="log whole">{stack}</pre>
          </details>
        )}
      </section>
      <Facts
        title="Request"
        of={[
          [
            "Function",
            <a key="function" href={deadLettersAddress(letter.function)}>
              {letter.function}
            </a>,
          ],
          [
            "Object",
            <>
              <ObjectLink of={object} />
              {screen && (
                <>
                  {" "}
                  <a href={screen}>Open the {object.kind}</a>
                </>
              )}
            </>,
          ],
          ["Cause", <Cause key="cause" of={cause} about={object} />],
          ["Failed attempts", attempts],
          [
            "Given up",
            <>
              <Age of={time} /> by {replica}
            </>,
          ],
          ["Trace", trace === null ? "none" : <a href={traceAddress(trace)}>{trace}</a>],
        ]}
      />
    </div>
  );
}
