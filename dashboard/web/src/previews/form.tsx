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
import { listText, formText as text } from "./text.ts";

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
  list: ["/previews", listText.title],
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
export const NewPipeline = () => <NewObject kind={pipelineForm} title={text.title} />;

const specField = (form: Form, ...path: string[]) => ({ form, path: ["spec", ...path] });

function Fields({ form, namespace }: { form: Form; namespace: string }) {
  return (
    <>
      <RepositoryFields form={form} at={github} />
      <TokenSecretField form={form} at={github} namespace={namespace} />
      <TextField
        {...specField(form, "domainBase")}
        label={text.domain}
        placeholder={text.domainExample}
        hint={text.domainHint}
      />
      <ImageFields form={form} />
      <FilterFields form={form} />
      <LimitFields form={form} />
      <ReportFields form={form} />
      <EnvField
        {...specField(form, "applicationTemplate", "spec", "env")}
        label={text.env}
        namespace={namespace}
      />
      <MoreFields form={form} />
    </>
  );
}

function FilterFields({ form }: { form: Form }) {
  return (
    <Group label={text.filter}>
      <LinesField
        {...specField(form, "filter", "labels")}
        label={text.labels}
        rows={2}
        hint={text.labelsHint}
      />
      <LinesField
        {...specField(form, "filter", "baseBranches")}
        label={text.branches}
        rows={2}
        hint={text.branchesHint}
      />
      <SwitchField {...specField(form, "filter", "drafts")} label={text.drafts} unset="on" />
      <ChoiceField {...specField(form, "filter", "forks")} label={text.forks} choices={text.forksChoices} />
      <TextField
        {...specField(form, "filter", "approvalLabel")}
        label={text.approvalLabel}
        hint={text.approvalHint}
        placeholder={text.labelExample}
      />
    </Group>
  );
}

function LimitFields({ form }: { form: Form }) {
  return (
    <Group label={text.limits}>
      <NumberField {...specField(form, "maxPreviews")} label={text.most} hint={text.mostHint} />
      <TextField {...specField(form, "ttl")} label={text.ttl} placeholder="72h" hint={text.ttlHint} />
      <TextField
        {...specField(form, "pollInterval")}
        label={text.poll}
        placeholder="5m"
        hint={text.pollHint}
      />
    </Group>
  );
}

function ReportFields({ form }: { form: Form }) {
  return (
    <Group label={text.reports}>
      <SwitchField {...specField(form, "report", "commitStatus")} label={text.commitStatus} unset="on" />
      <SwitchField {...specField(form, "report", "comment")} label={text.comment} unset="on" />
      <SwitchField {...specField(form, "report", "deployment")} label={text.deployment} unset="off" />
    </Group>
  );
}

function MoreFields({ form }: { form: Form }) {
  return (
    <More what={text.more}>
      <NumberField
        {...specField(form, "applicationTemplate", "spec", "port")}
        label={text.port}
        min={1}
        hint={text.portHint}
      />
      <NumberField {...specField(form, "applicationTemplate", "spec", "replicas")} label={text.pods} />
      <TextField
        {...specField(form, "base", "subPath")}
        label={text.folder}
        placeholder={text.folderExample}
      />
      <ChoiceField {...specField(form, "revision")} label={text.commit} choices={commitsOfPullRequest} />
      <EnvField {...specField(form, "build", "env")} label={text.buildEnv} />
      <BuildFields form={form} />
    </More>
  );
}
