/** The screen of a GitHubApp: how to install it. */
import { useRoute } from "preact-iso";
import {
  gatewaySecretName,
  hookOf,
  keySecretName,
  type RegisteredAppView,
  webhookSecretName,
} from "../../../api/githubapp.ts";
import { useQuery } from "../api/query.ts";
import { useWatch } from "../api/watch.ts";
import { Conditions } from "../ui/conditions.tsx";
import { useCopy } from "../ui/copy.ts";
import { Details } from "../ui/details.tsx";
import { Facts } from "../ui/facts.tsx";
import { Head } from "../ui/head.tsx";
import { OutLink } from "../ui/link.tsx";
import { ObjectScreen } from "../ui/objectscreen.tsx";
import { Health } from "../ui/status.tsx";
import { copyText } from "../ui/text.ts";
import { gitHubApps } from "./resources.ts";
import { listText, appText as text } from "./text.ts";

const trail = ["/github", listText.title] as const;

export function GitHubAppScreen() {
  const { namespace = "", name = "" } = useRoute().params;
  const [list] = useWatch([gitHubApps, { namespace, fieldSelector: `metadata.name=${name}` }]);
  const registered = useQuery<RegisteredAppView>(`/api/github/apps/${namespace}/${name}`);
  const app = registered.value;
  return (
    <ObjectScreen watched={list} kind="GitHubApp" name={name} trail={trail}>
      {(object) => (
        <>
          <Head title={name} trail={trail} status={<Health of={object} />} />
          <div class="stack">
            {app && <InstallCard of={app} />}
            {app?.isWebhookSecretKept && <HandOver namespace={namespace} name={name} />}
            {registered.error && (
              <div role="alert" class="notice bad">
                <p>{text.notReachable}</p>
                <Details message={registered.error.message} />
              </div>
            )}
            <Facts
              title={text.onGitHub}
              of={[
                [text.appId, <code key="id">{object.spec.appID}</code>],
                [listText.columns.app, app?.appName],
                [text.keySecret, <code key="secret">{object.spec.privateKeySecretRef.name}</code>],
                [listText.columns.onGitHub, app && <OutLink key="url" to={app.url} />],
              ]}
            />
            <Conditions of={object} />
          </div>
        </>
      )}
    </ObjectScreen>
  );
}

function InstallCard({ of: { install } }: { of: RegisteredAppView }) {
  return (
    <section class="card" aria-labelledby="install">
      <h2 id="install">{text.installTitle}</h2>
      <p>{text.installWhy}</p>
      <div class="actions">
        <a class="button primary" href={install}>
          {text.install}
        </a>
      </div>
    </section>
  );
}

/** For users who may not change the Secret of the gateways. */
function HandOver({ namespace, name }: { namespace: string; name: string }) {
  const settings = useQuery<{ platformNamespace: string }>("/api/github/apps");
  const [state, element, copy] = useCopy<HTMLPreElement>();
  const platform = settings.value?.platformNamespace;
  if (platform === undefined) return null;
  const label = { idle: text.copy, copied: copyText.copied, selected: copyText.selected }[state];
  const kept = `kubectl patch secret ${keySecretName(name)} -n ${namespace} --type json`;
  const value = `$(kubectl get secret ${keySecretName(name)} -n ${namespace} -o 'jsonpath={.data.${webhookSecretName}}')`;
  const command = `kubectl patch secret ${gatewaySecretName} -n ${platform} -p '{"data":{"github.${hookOf(namespace, name)}":"'"${value}"'"}}' && ${kept} -p '[{"op":"remove","path":"/data/${webhookSecretName}"}]'`;
  return (
    <section class="card" aria-labelledby="hand-over">
      <h2 id="hand-over">{text.handOverTitle}</h2>
      <p>{text.handOverWhy}</p>
      <pre class="yaml" ref={element}>
        {command}
      </pre>
      <div class="actions">
        <button type="button" onClick={() => copy(command)}>
          {label}
        </button>
        <span class="unseen" role="status">
          {state === "idle" ? "" : label}
        </span>
      </div>
    </section>
  );
}
