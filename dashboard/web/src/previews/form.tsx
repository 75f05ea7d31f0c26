/** The form for AppPipelines. */
import { AppPipeline } from "@denrei/functions/paas/kinds/apppipeline";
import { z } from "zod";
import { appPipelines } from "../api/resource.ts";
import { withoutReserved } from "../applications/reserved.ts";
import { BuildFields, commitsOfPullRequest, ImageFields, shownBuildFields } from "../builds/buildfields.tsx";
import { RepositoryFields, TokenSecretField } from "../github/repository.tsx";
import { SwitchField } from "../ui/form/choices.tsx";
import type { Path } from "../ui/form/draft.ts";
import { EnvField } from "../ui/form/env.tsx";
import { ChoiceField, LinesField, NumberField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { Group, More } from "../ui/form/group.tsx";
import { type Draft, NewObject, type ObjectForm } from "../ui/form/object.tsx";

const github: Path = ["spec", "base", "github"];

const fields: readonly Path[] = [
  ["base", "github", "owner"],
  ["base", "github", "repo"],
  ["base", "github", "secretName"],
  ["base", "subPath"],
  ["domainBase"],
  ["image", "name"],
  ["image", "secretName"],
  ["maxPreviews"],
  ["ttl"],
  ["pollInterval"],
  ["filter", "labels"],
  ["filter", "baseBranches"],
  ["filter", "drafts"],
  ["filter", "forks"],
  ["filter", "approvalLabel"],
  ["report", "commitStatus"],
  ["report", "deployment"],
  ["report", "comment"],
  ["applicationTemplate", "spec", "env"],
  ["applicationTemplate", "spec", "port"],
  ["applicationTemplate", "spec", "replicas"],
  ["revision"],
  ["build", "env"],
].map((path) => ["spec", ...path]);

/** Creates and edits AppPipelines. */
export const pipelineForm: ObjectForm<AppPipeline> = {
  resource: appPipelines,
  list: ["/previews", "Previews"],
  schema: withoutReserved(z.object({ spec: AppPipeline.definition?.spec ?? z.object() }), [
    "spec",
    "applicationTemplate",
    "spec",
    "env",
  ]),
  skeleton: { spec: { applicationTemplate: {}, base: { github: {} }, image: {} } },
  fields: [...fields, ...shownBuildFields],
  draftOf: (spec) => ({ spec }),
  // The API server requires a template, even an empty one.
  specOf: ({ spec = {} }: Draft) => ({ applicationTemplate: {}, ...spec }),
  content: (form, namespace) => <Fields form={form} namespace={namespace} />,
};

/** The screen that creates an AppPipeline. */
export const NewPipeline = () => <NewObject kind={pipelineForm} title="Preview a repository" />;

const specField = (form: Form, ...path: string[]) => ({ form, path: ["spec", ...path] });

function Fields({ form, namespace }: { form: Form; namespace: string }) {
  return (
    <>
      <RepositoryFields form={form} at={github} />
      <TokenSecretField form={form} at={github} namespace={namespace} />
      <TextField
        {...specField(form, "domainBase")}
        label="Preview domain"
        placeholder="preview.example.com"
        hint="Each preview gets a subdomain."
      />
      <ImageFields form={form} />
      <FilterFields form={form} />
      <LimitFields form={form} />
      <ReportFields form={form} />
      <EnvField
        {...specField(form, "applicationTemplate", "spec", "env")}
        label="Preview environment variables"
        namespace={namespace}
      />
      <MoreFields form={form} />
    </>
  );
}

function FilterFields({ form }: { form: Form }) {
  return (
    <Group label="Pull request filter">
      <LinesField
        {...specField(form, "filter", "labels")}
        label="Labels"
        rows={2}
        hint="One per line. A pull request must have all of them."
      />
      <LinesField
        {...specField(form, "filter", "baseBranches")}
        label="Target branches"
        rows={2}
        hint="One per line. * matches any characters."
      />
      <SwitchField {...specField(form, "filter", "drafts")} label="Include drafts" unset="on" />
      <ChoiceField
        {...specField(form, "filter", "forks")}
        label="Forks"
        choices={[
          ["", "When a label approves the commit (default)"],
          ["Approved", "When a label approves the commit"],
          ["Never", "Never"],
          ["Always", "Always, which runs unreviewed code from strangers"],
        ]}
      />
      <TextField
        {...specField(form, "filter", "approvalLabel")}
        label="Approval label"
        placeholder="preview-approved"
      />
    </Group>
  );
}

function LimitFields({ form }: { form: Form }) {
  return (
    <Group label="Limits">
      <NumberField
        {...specField(form, "maxPreviews")}
        label="Maximum number of previews"
        hint="Further pull requests wait. No limit if empty."
      />
      <TextField
        {...specField(form, "ttl")}
        label="Lifetime after the last commit"
        placeholder="72h"
        hint="Such as 72h or 7d. If empty, previews stay until the pull request is closed."
      />
      <TextField
        {...specField(form, "pollInterval")}
        label="Poll interval"
        placeholder="5m"
        hint="How often to list pull requests, in addition to webhooks."
      />
    </Group>
  );
}

function ReportFields({ form }: { form: Form }) {
  return (
    <Group label="Reports to GitHub">
      <SwitchField {...specField(form, "report", "commitStatus")} label="Commit status" unset="on" />
      <SwitchField {...specField(form, "report", "comment")} label="Pull request comment" unset="on" />
      <SwitchField {...specField(form, "report", "deployment")} label="Deployment" unset="off" />
    </Group>
  );
}

function MoreFields({ form }: { form: Form }) {
  return (
    <More what="port, pods, folder, build settings">
      <NumberField
        {...specField(form, "applicationTemplate", "spec", "port")}
        label="Port"
        min={1}
        hint="The port that previews listen on. Defaults to 8080."
      />
      <NumberField {...specField(form, "applicationTemplate", "spec", "replicas")} label="Pods per preview" />
      <TextField
        {...specField(form, "base", "subPath")}
        label="Repository folder"
        placeholder="services/web"
      />
      <ChoiceField {...specField(form, "revision")} label="Commit to build" choices={commitsOfPullRequest} />
      <EnvField {...specField(form, "build", "env")} label="Build environment variables" />
      <BuildFields form={form} />
    </More>
  );
}
