/** The screen of an Installation. */
import { useRoute } from "preact-iso";
import { events } from "../api/resource.ts";
import { useWatch } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Conditions } from "../ui/conditions.tsx";
import { DeleteButton } from "../ui/deletebutton.tsx";
import { Events } from "../ui/events.tsx";
import { Facts } from "../ui/facts.tsx";
import { Head } from "../ui/head.tsx";
import { ObjectScreen } from "../ui/objectscreen.tsx";
import { Health } from "../ui/status.tsx";
import { Countdown } from "./countdown.tsx";
import { permissionsOf, repositoriesOf } from "./facts.ts";
import { installations } from "./resources.ts";
import { listText, installationText as text } from "./text.ts";

const trail = ["/github", listText.title] as const;

export function InstallationScreen() {
  const { namespace = "", name = "" } = useRoute().params;
  const [installationList, eventList] = useWatch(
    [installations, { namespace, fieldSelector: `metadata.name=${name}` }],
    [events, { namespace }],
  );
  return (
    <ObjectScreen watched={installationList} kind="Installation" name={name} trail={trail}>
      {(installation) => {
        const { metadata, spec, status } = installation;
        return (
          <>
            <Head title={name} trail={trail} status={<Health of={installation} />}>
              <DeleteButton
                resource={installations}
                object={installation}
                consequence={text.consequence(status?.secret ?? name)}
              />
            </Head>
            <div class="stack">
              <div class="columns">
                <Facts
                  title={text.token}
                  of={[
                    [text.expiresIn, <Countdown key="end" to={status?.expiresAt} />],
                    [text.nextRefresh, <Age key="refresh" of={status?.refreshAt} />],
                    [text.secret, status?.secret && <code>{status.secret}</code>],
                    [text.format, spec.format ?? "raw"],
                    [text.key, spec.key && <code>{spec.key}</code>],
                    [text.registry, spec.registry],
                    [text.repositories, repositoriesOf(spec)],
                    [text.permissions, permissionsOf(spec)],
                  ]}
                />
                <Facts
                  title={text.installation}
                  of={[
                    [text.namespace, namespace],
                    [text.app, `${spec.appRef.kind} ${spec.appRef.name}`],
                    [text.installation, <code key="id">{spec.installationID}</code>],
                    [text.created, <Age key="created" of={metadata.creationTimestamp} />],
                    [text.error, status?.ready === false && status.message],
                  ]}
                />
              </div>
              <Conditions of={installation} />
              <Events watched={eventList} about={new Set([metadata.uid])} />
            </div>
          </>
        );
      }}
    </ObjectScreen>
  );
}
