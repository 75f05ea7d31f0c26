/** The fields for an Installation's App. */
import { useWatch } from "../api/watch.ts";
import { ChoiceField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { paths } from "./paths.ts";
import { clusterGitHubApps, gitHubApps } from "./resources.ts";
import { formText as text } from "./text.ts";

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
        label={text.appKind}
        choices={Object.entries(text.appKinds)}
      />
      <TextField
        form={form}
        path={paths.appName}
        label={text.app}
        hint={isOfCluster ? text.clusterAppHint : text.namespacedAppHint}
        suggestions={known.map(({ metadata }) => metadata.name)}
      />
    </>
  );
}
