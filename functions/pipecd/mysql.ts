/** Mysql: the datastore of control planes from v0.37.1. */
import { Mysql } from "./kinds.ts";
import { secretKeys } from "./names.ts";
import { storeImage } from "./profile.ts";
import { storeFunction } from "./stores/storefunction.ts";

const port = 3306;
/** The kind is documented as being for trials only. */
const unsafePassword = "test";

export default storeFunction({
  name: "pipecd-mysql",
  kind: Mysql,
  component: "mysql",
  secretKeys: [secretKeys.mysqlRootPassword],
  program({ spec: { version, secret, database = "quickstart" } }) {
    const password = secret
      ? { valueFrom: { secretKeyRef: { name: secret.secretName, key: secretKeys.mysqlRootPassword } } }
      : { value: unsafePassword };
    return {
      image: storeImage("mysql", version),
      env: [
        { name: "MYSQL_ROOT_PASSWORD", ...password },
        { name: "MYSQL_DATABASE", value: database },
      ],
      port,
      dataPath: "/var/lib/mysql",
      readinessProbe: { tcpSocket: { port } },
    };
  },
});
