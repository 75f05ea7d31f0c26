/** The form for RemoteSyncs. */
import { RemoteSync } from "@denrei/functions/paas/kinds/remotesync";
import { useRoute } from "preact-iso";
import { z } from "zod";
import { applications, remoteSyncs } from "../api/resource.ts";
import { RepositoryFields, TokenSecretField } from "../github/repository.tsx";
import { RadioField } from "../ui/form/choices.tsx";
import { type Path, valueAt, withValueAt } from "../ui/form/draft.ts";
import { EnvField } from "../ui/form/env.tsx";
import { ChoiceField, NumberField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { More } from "../ui/form/group.tsx";
import { type Draft, NewObject, type ObjectForm } from "../ui/form/object.tsx";
import { useSuggestedObjects } from "../ui/form/suggestions.ts";
import { BuildFields, commitsOfPullRequest, ImageFields, shownBuildFields } from "./buildfields.tsx";
import { listText, formText as text } from "./text.ts";

const github: Path = ["spec", "base", "github"];

type Source = keyof typeof text.sources;
const sources = Object.entries(text.sources) as readonly (readonly [Source, string])[];

/** Error messages by source. If a specification has several sources, the first of these counts. */
const expectations = text.problems;

/** Stricter than the API server, which still accepts deprecated forms of a commit. */
const isValid = (source: string, value: unknown): boolean =>
  source === "sha" ? /^[0-9a-f]{40}$/.test(String(value)) : value !== undefined;

/** Requires a value for the chosen source: without one, the default branch would be built. */
function schemaOfDraft(): z.ZodType {
  const shape = { source: z.enum(sources.map(([source]) => source)) };
  const spec = RemoteSync.definition?.spec ?? z.object();
  let schema = z.object({ ...shape, spec });
  for (const [source, error] of Object.entries(expectations)) {
    const isGiven = (draft: unknown) =>
      valueAt(draft, ["source"]) !== source || isValid(source, valueAt(draft, [...github, source]));
    schema = schema.refine(isGiven, { path: [...github, source], error, when: () => true });
  }
  return schema;
}

/** The draft with another source and without the values of the previous one. */
function withSource(draft: unknown, source: Source): unknown {
  const bare = Object.keys(expectations).reduce<unknown>(
    (left, name) => withValueAt(left, [...github, name], undefined),
    draft,
  );
  return withValueAt(bare, ["source"], source);
}

const sourceOf = (spec: object): Source =>
  (Object.keys(expectations) as Source[]).find((name) => valueAt({ spec }, [...github, name])) ?? "default";

/** Creates and edits RemoteSyncs. */
export const remoteSyncForm: ObjectForm<RemoteSync> = {
  resource: remoteSyncs,
  list: ["/builds", listText.title],
  schema: schemaOfDraft(),
  skeleton: { spec: { applicationRef: {}, base: { github: {} }, image: {} } },
  fields: [["source"], ["spec", "applicationRef", "name"], ...fieldsOf()],
  draftOf: (spec) => ({ source: sourceOf(spec), spec }),
  specOf: ({ spec = {} }: Draft) => spec,
  content: (form, namespace) => <Fields form={form} namespace={namespace} />,
};

/** The screen that creates a RemoteSync, for the Application in `?application=`. */
export function NewRemoteSync() {
  const { application } = useRoute().query;
  return (
    <NewObject
      kind={remoteSyncForm}
      title={text.title}
      spec={application ? { applicationRef: { name: application } } : {}}
    />
  );
}

function fieldsOf(): Path[] {
  return [
    ...["owner", "repo", "branch", "pullRequest", "sha", "secretName"].map((name) => [...github, name]),
    ["spec", "base", "subPath"],
    ["spec", "image", "name"],
    ["spec", "image", "secretName"],
    ["spec", "revision"],
    ["spec", "build", "env"],
    ...shownBuildFields,
  ];
}

function Fields({ form, namespace }: { form: Form; namespace: string }) {
  const field = (...path: string[]) => ({ form, path: ["spec", ...path] });
  const of = (name: string) => field("base", "github", name);
  const source = form.value(["source"]);
  return (
    <>
      <ApplicationField form={form} namespace={namespace} />
      <RepositoryFields form={form} at={github} />
      <RadioField
        form={form}
        path={["source"]}
        label={text.source}
        choices={sources}
        choose={(chosen) => form.set([], withSource(form.value([]), chosen))}
      />
      {source === "branch" && (
        <TextField {...of("branch")} label={text.branch} placeholder={text.branchExample} />
      )}
      {source === "pullRequest" && (
        <>
          <NumberField {...of("pullRequest")} label={text.pullRequest} min={1} />
          <ChoiceField {...field("revision")} label={text.commitToBuild} choices={commitsOfPullRequest} />
        </>
      )}
      {source === "sha" && (
        <TextField
          {...of("sha")}
          label={text.commit}
          placeholder={text.commitExample}
          hint={text.commitHint}
        />
      )}
      <TokenSecretField form={form} at={github} namespace={namespace} />
      <ImageFields form={form} />
      <EnvField {...field("build", "env")} label={text.variables} />
      <More what={text.more}>
        <TextField
          {...field("base", "subPath")}
          label={text.folder}
          placeholder={text.folderExample}
          hint={text.folderHint}
        />
        <BuildFields form={form} />
      </More>
    </>
  );
}

/** Suggests Applications that the user may list; any name can be typed. */
function ApplicationField({ form, namespace }: { form: Form; namespace: string }) {
  const found = useSuggestedObjects(applications, namespace);
  return (
    <TextField
      form={form}
      path={["spec", "applicationRef", "name"]}
      label={text.application}
      placeholder={text.applicationExample}
      hint={text.applicationHint}
      suggestions={found.map(({ metadata }) => metadata.name)}
    />
  );
}
