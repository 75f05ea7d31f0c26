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

const trail = ["/github", "GitHub"] as const;

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
                consequence={`The Secret ${status?.secret ?? name} is deleted too, and builds that use its token stop working.`}
              />
            </Head>
            <div class="stack">
              <div class="columns">
                <Facts
                  title="Token"
                  of={[
                    ["Expires in", <Countdown key="end" to={status?.expiresAt} />],
                    ["Next refresh", <Age key="refresh" of={status?.refreshAt} />],
                    ["Secret", status?.secret && <code>{status.secret}</code>],
                    ["Format", spec.format ?? "raw"],
                    ["Key", spec.key && <code>{spec.key}</code>],
                    ["Registry", spec.registry],
                    ["Repositories", repositoriesOf(spec)],
                    ["Permissions", permissionsOf(spec)],
                  ]}
                />
                <Facts
                  title="Installation"
                  of={[
                    ["Namespace", namespace],
                    ["App", `${spec.appRef.kind} ${spec.appRef.name}`],
                    ["Installation", <code key="id">{spec.installationID}</code>],
                    ["Created", <Age key="created" of={metadata.creationTimestamp} />],
                    ["Error", status?.ready === false && status.message],
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
