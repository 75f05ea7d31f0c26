/** The list of Applications. */
import type { Stored } from "../../../../bus/kube/object.ts";
import type { Application } from "../../../../functions/paas/kinds.ts";
import { applications } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Head } from "../ui/head.tsx";
import { OutLink } from "../ui/link.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Searchable } from "../ui/searchable.tsx";
import { Loaded } from "../ui/states.tsx";
import { Health, healthOf } from "../ui/status.tsx";
import { type Column, ObjectTable } from "../ui/table.tsx";

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
            <p>An Application runs an image and serves it at its hosts.</p>
            <a href="/applications/new">Create the first one</a>
          </>
        }
      >
        {(items) => (
          <Searchable items={items} text={textOf} what="Applications">
            {(found) => <ObjectTable objects={found} to={addressOf} columns={columns} />}
          </Searchable>
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

const addressOf = ({ metadata }: App): string => `/applications/${metadata.namespace}/${metadata.name}`;

const columns: readonly Column<App>[] = [
  ["Health", (app) => <Health of={app} />],
  ["Address", ({ status }) => <OutLink to={status?.url || undefined} />],
  ["Image", ({ status }) => <code class="cut">{status?.currentImage ?? ""}</code>],
  ["Pods", ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}`, "number"],
  ["Created", ({ metadata }) => <Age of={metadata.creationTimestamp} />],
];
