/** All Applications, live. */
import { applications } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { namespace } from "../ui/namespace.tsx";
import { Loaded } from "../ui/states.tsx";

/** The screen. */
export function ApplicationList() {
  const [found] = useWatch([applications, { namespace: namespace.value || undefined }]);
  return (
    <>
      <h1>Applications</h1>
      <Loaded watched={found} empty={<p>No Applications here yet.</p>}>
        {(items) => (
          <table>
            <thead>
              <tr>
                <th>Name</th>
                <th>Status</th>
                <th>Image</th>
              </tr>
            </thead>
            <tbody>
              {items.map(({ metadata, status }) => (
                <tr key={metadata.uid}>
                  <td>{metadata.name}</td>
                  <td>{status?.status ?? "waiting"}</td>
                  <td>{status?.currentImage ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
    </>
  );
}
