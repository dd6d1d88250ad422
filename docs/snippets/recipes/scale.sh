#!/bin/sh
set -e
cd "$(dirname "$0")"
. ./tunerank.env
npx tunerank scale support-search "$1"
