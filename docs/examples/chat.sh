#!/bin/sh
# Asks the model through Hindsight with curl.
#
#   ./chat.sh "Please remember that my badge is B4411."
#   ./chat.sh "Which badge do I have?"
#
# The second call holds nothing of the first one. What the model knows then
# comes from the memory: Hindsight put it in front of your words.
set -eu
words=${1:?say something: ./chat.sh "Which badge do I have?"}
case $words in
*[\"\\]*) echo "This script doesn't escape JSON: leave out quotes and backslashes." >&2; exit 2 ;;
esac

# -D - prints the answer's headers, where Hindsight says what it did:
#   Hindsight-Status    injected, replayed, none, off or skipped
#   Hindsight-Memories  the ids of the memories that this turn was given
curl -sS --fail-with-body -D - "${OPENAI_BASE_URL:-http://127.0.0.1:8080/v1}/chat/completions" \
  -H "Authorization: Bearer ${OPENAI_API_KEY:?your key for the model API}" \
  -H "Hindsight-User: ${CHAT_USER:-ann}" \
  -H "Content-Type: application/json" \
  -d "{\"model\": \"${MODEL:-gpt-4o-mini}\", \"messages\": [{\"role\": \"user\", \"content\": \"$words\"}]}"
echo
