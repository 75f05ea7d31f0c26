/** Of which App a token is to be. */
import { useWatch } from "../api/watch.ts";
import { ChoiceField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { paths } from "./paths.ts";
import { clusterGitHubApps, gitHubApps } from "./resources.ts";

/** Its kind, and its name: those that somebody may list are offered, and any can be named. */
export function AppFields({ form }: { form: Form }) {
  const namespace = String(form.value(paths.namespace) ?? "");
  const isOfCluster = form.value(paths.appKind) === "ClusterGitHubApp";
  const [apps, clusterApps] = useWatch(
    [gitHubApps, { namespace: namespace || undefined }],
    [clusterGitHubApps, {}],
  );
  const known = (isOfCluster ? clusterApps : apps).items;
  return (
    <>
      <ChoiceField
        form={form}
        path={paths.appKind}
        label="Kind of the App"
        choices={[
          ["ClusterGitHubApp", "ClusterGitHubApp, of the whole cluster"],
          ["GitHubApp", "GitHubApp, of this namespace"],
        ]}
      />
      <TextField
        form={form}
        path={paths.appName}
        label="App"
        hint={
          isOfCluster
            ? "It has to allow this namespace. Whoever administers the cluster knows its name."
            : "One of the same namespace."
        }
        suggestions={known.map(({ metadata }) => metadata.name)}
      />
    </>
  );
}
