/** Test values of the validated fields; `recorded.json` has PipeCD's results. */
import type { FieldName } from "./fields.ts";

const durations = [
  ...["1s", "1h30m", ".5s", "1.s", "90m", "1us", "2500000h", "2562047h", "2562048h", "9999999999h"],
  ...["9223372036854775807ns", "9223372036854775808ns", "1", "5 m", "5d", "1e3s", "s", ".s"],
];
const secrets = ["YQ==", "YWI=", "Zm9v", "Zm9v\nYmFy\n", "YQ", "YQ=", "Zm9v=", "Z m9v", "Zm-_", "hunter2"];

/** Values by field. */
export const checkedValues: Readonly<Record<FieldName, readonly string[]>> = {
  schedule: [
    ...["0 * * * *", "*/5 1-3,7 ? JAN-mar sun", "  0\t* * *  * ", "05 +1 1 1 6", "59/2 * * * *", ", * * * *"],
    ...[
      "@hourly",
      "@daily",
      "@midnight",
      "@weekly",
      "@monthly",
      "@yearly",
      "@annually",
      "@every 1h30m",
      "@every 5",
    ],
    ...["@Daily", "@daily ", " @daily", "@reboot", "daily", "", " ", "0 * * *", "0 0 * * * *", "60 * * * *"],
    ...["* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7", "5-1 * * * *", "1-2-3 * * * *", "*/0 * * * *"],
    ...["*/x * * * *", "1/2/3 * * * *", "-1 * * * *", "1.5 * * * *", "* * * foo *", "*-5 * * * *"],
    ...["TZ=UTC 0 * * * *", "CRON_TZ=UTC @daily", "TZ=Asia/Tokyo 0 9 * * *", "TZ=Nowhere/X 0 * * * *"],
    ...["TZ=UTC", "TZ= 0 * * * *", "TZ=UTC TZ=UTC 0 * * * *"],
  ],
  endpoint: [
    ...["http://m:9000", "https://minio.example.com", "HTTP://m", "http://m:9000/", "http://m:9000/path?x#y"],
    ...["http://10.0.0.1:9000", "http://[::1]:9000", "http://[::1]", "http://u:p@m:9000", "http://m:"],
    ...[
      "m:9000",
      "10.0.0.1:9000",
      "localhost:9000",
      "m",
      "//m:9000",
      "http://",
      "http://:9000",
      "http:m",
      "http://m:port",
    ],
    ...[
      "http://m :9000",
      "http://m_",
      "http://-m",
      "http://.m",
      "http://m:90000",
      "http://m\n",
      "http://m/%zz",
    ],
    ...[
      "http://bucket.s3.amazonaws.com",
      "http://s3.amazonaws.com",
      "http://x.googleapis.com",
      "http://a,b:9000",
      "http://u@p@m",
      "minio://m:9000",
      "http://[:1]:9000",
    ],
  ],
  bucket: [
    ...[
      "bucket",
      "B.c-d_e:f",
      "abc",
      "ab",
      "a",
      "x".repeat(63),
      "x".repeat(64),
      "-ab",
      "ab-",
      "a..b",
      "a.-b",
      "a-.b",
    ],
    ...["10.0.0.1", "a b", "bücket", "a/b", " ab "],
  ],
  mysqlURL: [
    ...[
      "u:p@tcp(m:3306)/d",
      "u:p@tcp(m)/d",
      "u@tcp/d",
      "/d",
      "u:p@unix(/run/mysql.sock)/d",
      "u:p/q@tcp(m:3306)/d",
    ],
    ...[
      "u:p@q@tcp(m:3306)/d",
      "u:p@tcp([::1]:3306)/d",
      "u:p@tcp(m:3306)",
      "u:p@tcp(m:3306)/",
      "u:p/q@tcp(m:3306)",
    ],
    ...[
      "u:p@tcp(m:3306)/d?parseTime=true",
      "u:p@tcp(m:3306)/d?charset=utf8mb4",
      "u:p@tcp(m:3306/d",
      "m:3306/d",
    ],
    ...["mysql://u:p@m:3306/d", "u:p@m:3306/d", "u:p@tcp(m:3306)/d/e", "u:p@udp(m:3306)/d"],
  ],
  mysqlURLWithDatabase: [
    ...[
      "u:p@tcp(m:3306)",
      "u:p/q@tcp(m:3306)",
      "u@tcp(m)",
      "u:p@tcp",
      "u:p@unix(/run/mysql.sock)",
      "u:p@tcp()",
    ],
    ...[
      "u:p@tcp(m:3306)/",
      "u:p@tcp(m:3306)/d",
      "u:p@tcp(m:3306)?parseTime=true",
      "u:p@tcp(m:3306)/d?parseTime=true",
    ],
    ...[
      "m:3306",
      "m",
      "mysql://u:p@m:3306",
      "u:p@m:3306",
      "u:p@tcp(m:3306",
      "u:p@tcp m:3306)",
      "tcp(m:3306)",
    ],
  ],
  mysqlURLWithFiles: [
    ...[
      "m:3306",
      "m",
      "10.0.0.1",
      "[::1]:3306",
      "tcp(m:3306)",
      "u:p@tcp(m:3306)",
      "m:3306/",
      "m:3306/d",
      "m:3306)",
    ],
    ...["mysql://m:3306", "m:90000", "m:3306?x=y"],
  ],
  mysqlDatabase: ["d", "d-1", "データ", "d/e", "d?x=y", "d?", "/"],
  ttl: durations,
  syncInterval: durations,
  gitPassword: secrets,
  sshKeyData: secrets,
  mongoURL: [
    ...[
      "mongodb://m",
      "mongodb://m:27017/d?authSource=admin",
      "mongodb://u:p%40q@a:1,b:2/",
      "mongodb://[::1]:27017",
    ],
    ...["m:27017", "http://m", "mongodb://", "mongodb://m?x=y", "mongodb://u:p@q@m", "mongodb://u:p/q@m"],
    ...[
      "mongodb://u:p:q@m",
      "mongodb://u:100%@m",
      "mongodb://m:0",
      "mongodb://m:65536",
      "mongodb://m:x",
      "mongodb://m:",
    ],
    ...[
      "mongodb://m/?a",
      "mongodb://m/?=b",
      "mongodb://,",
      "MongoDB://m",
      "mongodb://m[:",
      "mongodb://[::1[]:27017",
    ],
  ],
  loginURL: [
    ...["https://github.example.com", "http://g:8080/path/", "HTTPS://g", "https://u:p@[::1]:443/?a=b#c"],
    ...[
      "https://g\n",
      "https://g/%zz",
      "https://[g]",
      "https://g:port",
      "https://a b",
      "https://g\x7f",
      "%",
      ":",
    ],
    ...["github.example.com", "ftp://g", "https://", "https://g:90000"],
  ],
};

/** Values that PipeCD's packages accept but its programs do not, because the images lack the time zone database. */
export const notInImages: Readonly<Record<string, string>> = {
  "TZ=Asia/Tokyo 0 9 * * *": "images have no time zone but UTC",
};

const tooLong = {
  "2562047h": "Denrei rejects the same duration as a number",
  "9223372036854775807ns": "Denrei rejects the same duration as a number",
};

/** Values that Denrei rejects although PipeCD accepts them, with the reason. */
export const stricter: Readonly<Partial<Record<FieldName, Readonly<Record<string, string>>>>> = {
  schedule: notInImages,
  endpoint: {
    "//m:9000": "PipeCD assumes http, which is not obvious",
    "http://m:90000": "the port does not exist",
  },
  mysqlURL: {
    "u:p@udp(m:3306)/d": "no MySQL speaks UDP",
    "u:p@tcp(m:3306)/": "ops has no database for its tables",
    "u:p@tcp(m:3306)/d?charset=utf8mb4":
      "ops asks the database for the character set utf8mb4?multiStatements=true",
  },
  mysqlURLWithFiles: {
    ...Object.fromEntries(
      [
        "tcp(m:3306)",
        "u:p@tcp(m:3306)",
        "m:3306/",
        "m:3306/d",
        "m:3306)",
        "mysql://m:3306",
        "m:90000",
        "m:3306?x=y",
      ].map((url) => [url, "it parses as an address that cannot exist"]),
    ),
  },
  mysqlDatabase: {
    "d?": "ops would have a parameter ?multiStatements",
    "d?x=y": "ops would set x to y?multiStatements=true",
  },
  loginURL: Object.fromEntries(
    ["github.example.com", "ftp://g", "https://", "https://g:90000"].map((url) => [
      url,
      "no browser can reach it",
    ]),
  ),
  ttl: tooLong,
  syncInterval: tooLong,
};
