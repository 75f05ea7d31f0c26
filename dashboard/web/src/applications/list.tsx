/** All Applications, live. */
import { applications } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Head } from "../ui/head.tsx";
import { OutLink } from "../ui/link.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Loaded } from "../ui/states.tsx";
import { Health } from "../ui/status.tsx";

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
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Health</th>
                  <th>Address</th>
                  <th>Image</th>
                  <th>Created</th>
                </tr>
              </thead>
              <tbody>
                {items.map((application) => {
                  const { metadata, status } = application;
                  return (
                    <tr key={metadata.uid}>
                      <th scope="row" data-label="Name">
                        <span>
                          <a href={`/applications/${metadata.namespace}/${metadata.name}`}>{metadata.name}</a>
                          {namespace.value === "" && <span class="quiet small"> {metadata.namespace}</span>}
                        </span>
                      </th>
                      <td data-label="Health">
                        <Health of={application} />
                      </td>
                      <td data-label="Address">
                        <OutLink to={status?.url} />
                      </td>
                      <td data-label="Image">
                        <code class="cut">{status?.currentImage ?? ""}</code>
                      </td>
                      <td data-label="Created">
                        <Age of={metadata.creationTimestamp} />
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </>
  );
}
