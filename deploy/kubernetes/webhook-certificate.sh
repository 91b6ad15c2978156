#!/bin/sh
# A certificate for the webhook of webhook.yaml, by an authority of its own that
# nothing else trusts.
#
#   webhook-certificate.sh NAMESPACE          prints the Secret, for kubectl apply -f -
#   webhook-certificate.sh --trust NAMESPACE  writes the authority of the Secret in the
#                                             cluster into the webhook's configuration
#
# Run both again, in this order, before the ten years are over.
set -eu
if [ "${1:-}" = --trust ]; then
  authority=$(kubectl get secret hindsight-webhook -n "${2:?name the namespace}" -o 'jsonpath={.data.ca\.crt}')
  exec kubectl patch mutatingwebhookconfiguration hindsight --type=json \
    -p "[{\"op\":\"add\",\"path\":\"/webhooks/0/clientConfig/caBundle\",\"value\":\"$authority\"}]"
fi
namespace=${1:?name the namespace of the webhook}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
umask 077
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
  -subj "/CN=hindsight-webhook-authority" -keyout ca.key -out ca.crt 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
  -subj "/CN=hindsight-webhook" -keyout tls.key -out tls.csr 2>/dev/null
printf 'subjectAltName=DNS:hindsight-webhook.%s.svc,DNS:hindsight-webhook.%s.svc.cluster.local\nextendedKeyUsage=serverAuth\n' \
  "$namespace" "$namespace" >extensions
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile extensions -out tls.crt 2>/dev/null
cat <<END
apiVersion: v1
kind: Secret
metadata:
  name: hindsight-webhook
  namespace: $namespace
type: kubernetes.io/tls
data:
  ca.crt: $(base64 <ca.crt | tr -d '\n')
  tls.crt: $(base64 <tls.crt | tr -d '\n')
  tls.key: $(base64 <tls.key | tr -d '\n')
END
