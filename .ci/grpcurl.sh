# `source .ci/grpcurl.sh FOLDER`: installs grpcurl there and puts it on the PATH, or says that it is absent and returns 1.
if GOBIN=$1 go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3; then
  PATH=$1:$PATH
else
  echo 'grpcurl is absent: no Go here, or Go modules cannot be reached. 20-package covers reflection v1 and v1alpha with buf curl.'
  return 1
fi
