/** Single sign-on configurations that projects share, in PipeCD's format. */
import { ssoBlockOf } from "../kinds/controlplaneconfig.ts";
import type { ControlPlaneConfig, SharedSSOConfig } from "../kinds.ts";
import { firstOfC } from "../profile.ts";
import { urlProblem } from "./gourl.ts";
import type { Problems } from "./problems.ts";
import { given } from "./rendering.ts";

type Provider = keyof typeof ssoBlockOf;
type Block = (typeof ssoBlockOf)[Provider];
type Sso = { readonly name: string; readonly provider: Provider; readonly sessionTtl?: number };
type SsoBlock<Name extends Block> = NonNullable<SharedSSOConfig[Name]>;
type RenderedSso = Partial<Sso> &
  (
    | { readonly github: Partial<SsoBlock<"github">> }
    | { readonly google: Partial<SsoBlock<"google">> }
    | { readonly oidc: Partial<SsoBlock<"oidc">> }
  );

/** The provider of each block. If several blocks are set without a provider, the first one counts: supported ones come first. */
const providerOf = { github: "GITHUB", oidc: "OIDC", google: "GOOGLE" } as const;
const blocks = Object.keys(providerOf) as readonly Block[];

const givenBlocks = (sso: SharedSSOConfig): readonly Block[] =>
  blocks.filter((block) => sso[block] !== undefined);

/** PipeCD uses one provider per configuration. */
function chosenProvider(sso: SharedSSOConfig): Provider {
  const [first] = givenBlocks(sso);
  if (sso.provider !== undefined) return sso.provider;
  if (first === undefined) throw new TypeError(`expected one of ${blocks.join(", ")}, found none`);
  return providerOf[first];
}

/** Paths of blocks that PipeCD ignores. */
export function ignoredLogins({
  sharedSSOConfigs = [],
}: Pick<ControlPlaneConfig, "sharedSSOConfigs">): readonly string[] {
  return sharedSSOConfigs.flatMap((sso, index) =>
    givenBlocks(sso)
      .filter((block) => block !== ssoBlockOf[chosenProvider(sso)])
      .map((block) => `spec.config.sharedSSOConfigs[${index}].${block}`),
  );
}

/** Renders an entry. `path` is its path in the ControlPlane. */
export function ssoOf(sso: SharedSSOConfig, path: string, problems: Problems): RenderedSso {
  const { name, sessionTtl } = sso;
  problems.from("v0.41.4", path, { sessionTtl });
  const provider = chosenProvider(sso);
  if (provider === "GITHUB_ENTERPRISE" && problems.profile === "C") {
    problems.add(
      `${path}.provider: GITHUB_ENTERPRISE needs PipeCD v0.9.0 or older: use GITHUB with a baseUrl`,
    );
  }
  const common = given({ name, provider, sessionTtl }) as Partial<Sso>;
  const block = ssoBlockOf[provider];
  switch (block) {
    case "github": {
      const { clientId, clientSecret, baseUrl, uploadUrl, proxyUrl } = sso.github as SsoBlock<"github">;
      problems.from(firstOfC, `${path}.github`, { proxyUrl });
      for (const [field, url] of Object.entries({ baseUrl, uploadUrl }))
        if (url) problems.of(`${path}.github.${field}`, urlProblem(url));
      checkProxy(`${path}.github`, proxyUrl, problems);
      return { ...common, github: given({ clientId, clientSecret, baseUrl, uploadUrl, proxyUrl }) };
    }
    case "google": {
      problems.add(`${path}.google: no version of PipeCD supports logins with Google: use github or oidc`);
      const { clientId, clientSecret } = sso.google as SsoBlock<"google">;
      return { ...common, google: { clientId, clientSecret } };
    }
    case "oidc":
      problems.from("v0.49.0", path, { oidc: sso.oidc });
      return { ...common, oidc: oidcOf(sso.oidc as SsoBlock<"oidc">, path, problems) };
  }
}

function checkProxy(path: string, proxyUrl: string | undefined, problems: Problems): void {
  if (proxyUrl) problems.of(`${path}.proxyUrl`, urlProblem(proxyUrl, "socks5"));
}

function oidcOf(oidc: SsoBlock<"oidc">, path: string, problems: Problems): Partial<SsoBlock<"oidc">> {
  const { rolesClaimKey, usernameClaimKey, avatarUrlClaimKey } = oidc;
  if (problems.profile === "C") {
    problems.from("v0.52.0", `${path}.oidc`, { rolesClaimKey, usernameClaimKey, avatarUrlClaimKey });
  }
  checkProxy(`${path}.oidc`, oidc.proxyUrl, problems);
  return given({
    clientId: oidc.clientId,
    clientSecret: oidc.clientSecret,
    issuer: oidc.issuer,
    redirectUri: oidc.redirectUri,
    authorizationEndpoint: oidc.authorizationEndpoint,
    tokenEndpoint: oidc.tokenEndpoint,
    userInfoEndpoint: oidc.userInfoEndpoint,
    proxyUrl: oidc.proxyUrl,
    scopes: oidc.scopes,
    rolesClaimKey,
    usernameClaimKey,
    avatarUrlClaimKey,
  });
}
