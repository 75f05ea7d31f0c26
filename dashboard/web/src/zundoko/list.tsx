/** The list of Hikawas. */
import { useWatch } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Loaded } from "../ui/states.tsx";
import { Health } from "../ui/status.tsx";
import { ObjectTable } from "../ui/table.tsx";
import { hikawas } from "./resources.ts";

export function HikawaList() {
  const [found] = useWatch([hikawas, { namespace: namespace.value || undefined }]);
  return (
    <>
      <Head title="Zundoko">
        <a class="button primary" href="/zundoko/new">
          Create a Hikawa
        </a>
      </Head>
      <Loaded
        watched={found}
        empty={
          <>
            <h2>No Hikawas here yet</h2>
            <p>
              A Hikawa says Zun or Doko, one object per word, until the last five words are Zun, Zun, Zun,
              Zun, Doko. Then comes Kiyoshi.
            </p>
            <a href="/zundoko/new">Create the first one</a>
          </>
        }
      >
        {(items) => (
          <ObjectTable
            objects={items}
            to={({ metadata }) => `/zundoko/${metadata.namespace}/${metadata.name}`}
            columns={[
              ["Song", (hikawa) => <Health of={hikawa} />],
              ["Words", ({ status }) => status?.numZundokosSaid ?? 0],
              ["Pause", ({ spec }) => `${spec.intervalMillis} ms`],
              ["Created", ({ metadata }) => <Age of={metadata.creationTimestamp} />],
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
