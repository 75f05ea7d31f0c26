/** The fields for an Installation's App. */
import { useWatch } from "../api/watch.ts";
import { ChoiceField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { paths } from "./paths.ts";
import { clusterGitHubApps, gitHubApps } from "./resources.ts";

/** Kind and name. Suggests Apps that the user may list; any name can be typed. */
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
        label="App kind"
        choices={[
          ["ClusterGitHubApp", "ClusterGitHubApp (cluster-wide)"],
          ["GitHubApp", "GitHubApp (this namespace)"],
        ]}
      />
      <TextField
        form={form}
        path={paths.appName}
        label="App"
        hint={
          isOfCluster
            ? "It must allow this namespace. Ask a cluster administrator for its name."
            : "A GitHubApp in the same namespace."
        }
        suggestions={known.map(({ metadata }) => metadata.name)}
      />
    </>
  );
}
