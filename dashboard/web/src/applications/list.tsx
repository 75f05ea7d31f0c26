/** All Applications, live. */
import { memo } from "preact/compat";
import type { Stored } from "../../../../bus/kube/object.ts";
import type { Application } from "../../../../functions/paas/kinds.ts";
import { applications } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Findable } from "../ui/findable.tsx";
import { Head } from "../ui/head.tsx";
import { OutLink } from "../ui/link.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Loaded } from "../ui/states.tsx";
import { Health, healthOf } from "../ui/status.tsx";

/** The screen. */
export function ApplicationList() {
  const [found] = useWatch([applications, { namespace: namespace.value || undefined }]);
  return (
    <>
      <Head title="Applications">
        <a class="button primary" href="/applications/new">
          Create an Application
        </a>
      </Head>
      <Loaded
        watched={found}
        empty={
          <>
            <h2>No Applications here yet</h2>
            <p>An Application is an image that runs, and the hosts where it is reached.</p>
            <a href="/applications/new">Create the first one</a>
          </>
        }
      >
        {(items) => (
          <Findable items={items} text={textOf} what="Applications">
            {(found) => <Table items={found} />}
          </Findable>
        )}
      </Loaded>
    </>
  );
}

type App = Stored<Application>;

const textOf = (app: App): string => {
  const { metadata, spec, status } = app;
  return [metadata.namespace, metadata.name, healthOf(app)[1], ...spec.domains, status?.currentImage].join(
    " ",
  );
};

function Table({ items }: { items: readonly App[] }) {
  return (
    <div class="table">
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>Health</th>
            <th>Address</th>
            <th>Image</th>
            <th class="number">Pods</th>
            <th>Created</th>
          </tr>
        </thead>
        <tbody>
          {items.map((app) => (
            <Row key={app.metadata.uid} app={app} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Drawn anew only when its Application is another one: of a thousand, one changes. */
const Row = memo(({ app }: { app: App }) => {
  const { metadata, spec, status } = app;
  return (
    <tr>
      <th scope="row" data-label="Name">
        <span>
          <a href={`/applications/${metadata.namespace}/${metadata.name}`}>{metadata.name}</a>
          {namespace.value === "" && <span class="quiet small"> {metadata.namespace}</span>}
        </span>
      </th>
      <td data-label="Health">
        <Health of={app} />
      </td>
      <td data-label="Address">
        <OutLink to={status?.url || undefined} />
      </td>
      <td data-label="Image">
        <code class="cut">{status?.currentImage ?? ""}</code>
      </td>
      <td class="number" data-label="Pods">
        {status?.readyReplicas ?? 0}/{spec.replicas}
      </td>
      <td data-label="Created">
        <Age of={metadata.creationTimestamp} />
      </td>
    </tr>
  );
});
