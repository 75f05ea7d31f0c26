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
import { listText, detailText as text } from "./text.ts";

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
        trail={[deadLettersAddress(), listText.title]}
        status={!replayed && value && <Status tone="bad">{humanize(value.reason)}</Status>}
      >
        {value && !replayed && (
          <Replay deadLetters={[value]} label={text.replay} onDone={() => setReplayed(value)} />
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
              <BusRefused what={text.what} error={error} />
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
      <h2>{text.missing(fn, name)}</h2>
      <p>{text.missingWhy}</p>
      <a href={deadLettersAddress()}>{text.all}</a>
    </div>
  );
}

function Letter({ of: letter }: { of: DeadLetterDetail }) {
  const { object, message, stack, attempts, time, replica, cause, trace } = letter;
  const screen = objectAddress(object);
  return (
    <div class="columns">
      <section class="card" aria-labelledby="what">
        <h2 id="what">{text.error}</h2>
        <p>{text.errorOf(letter.function)}</p>
        <p class="wrapped">{message}</p>
        {stack && (
          <details open>
            <summary>{text.stack}</summary>
            <pre class="log whole">{stack}</pre>
          </details>
        )}
      </section>
      <Facts
        title={text.request}
        of={[
          [
            text.function,
            <a key="function" href={deadLettersAddress(letter.function)}>
              {letter.function}
            </a>,
          ],
          [
            text.object,
            <>
              <ObjectLink of={object} />
              {screen && (
                <>
                  {" "}
                  <a href={screen}>{text.open(object.kind)}</a>
                </>
              )}
            </>,
          ],
          [text.cause, <Cause key="cause" of={cause} about={object} />],
          [text.attempts, attempts],
          [
            text.givenUp,
            <>
              <Age of={time} /> {text.by} {replica}
            </>,
          ],
          [text.trace, trace === null ? text.noTrace : <a href={traceAddress(trace)}>{trace}</a>],
        ]}
      />
    </div>
  );
}
