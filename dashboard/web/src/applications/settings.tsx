/** Changing an Application. */
import { useRef, useState } from "preact/hooks";
import { z } from "zod";
import type { Stored } from "../../../../bus/kube/object.ts";
import { Application } from "../../../../functions/paas/kinds/application.ts";
import { patchUnchanged } from "../api/objects.ts";
import { applications } from "../api/resource.ts";
import { mergePatchOf } from "../ui/form/draft.ts";
import { Send } from "../ui/form/field.tsx";
import { useForm } from "../ui/form/form.ts";
import { notify } from "../ui/notices.tsx";
import { SpecFields, shownFields } from "./fields.tsx";

const schema = z.object({ spec: Application.definition?.spec ?? z.object() });

/** The fourth part of the screen. What somebody else changes meanwhile is said, and not written over. */
export function Settings({ app }: { app: Stored<Application> }) {
  const [begun, setBegun] = useState(app);
  const isOther = app.metadata.generation !== begun.metadata.generation;
  return (
    <div class="stack">
      {isOther && (
        <div class="notice busy row">
          <span>Somebody has changed it since you began.</span>
          <button type="button" onClick={() => setBegun(app)}>
            Begin anew with what is there now
          </button>
        </div>
      )}
      <SettingsForm key={begun.metadata.generation} app={begun} onSaved={setBegun} />
    </div>
  );
}

function SettingsForm({
  app,
  onSaved,
}: {
  app: Stored<Application>;
  onSaved: (saved: Stored<Application>) => void;
}) {
  const before = useRef({ spec: app.spec });
  const form = useForm({
    initial: before.current,
    schema,
    fields: shownFields,
    async send(draft) {
      const change = mergePatchOf(before.current, draft) as object | undefined;
      if (change === undefined) return notify("good", "Nothing is different.");
      onSaved(await patchUnchanged(applications, app, change));
      notify("good", `${app.metadata.name} is changed.`);
    },
  });
  return (
    <form class="card" onSubmit={form.submit} noValidate>
      <SpecFields form={form} />
      <Send form={form} label="Save" />
    </form>
  );
}
