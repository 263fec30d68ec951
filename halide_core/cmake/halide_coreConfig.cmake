# Generators as libraries of a CMake project, with the functions and the arguments of Halide's package.
#
#     find_package(halide_core REQUIRED)          # -Dhalide_core_DIR=$(python -m halide_core cmake-dir)
#     add_halide_library(blur FROM filters.py)
#     target_link_libraries(app PRIVATE blur)     # #include "blur.h"
#
# The Python that runs Generators is ${Python_EXECUTABLE} where that is set, else that of the environment which this
# package is installed in, else the first one found.

include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(_halide_core_root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(_halide_core_near "${_halide_core_root}/../../../bin/python3")
if(Python_EXECUTABLE)
    set(HALIDE_CORE_PYTHON "${Python_EXECUTABLE}")
elseif(EXISTS "${_halide_core_near}")
    get_filename_component(HALIDE_CORE_PYTHON "${_halide_core_near}" ABSOLUTE)
else()
    find_dependency(Python 3.10 COMPONENTS Interpreter)
    set(HALIDE_CORE_PYTHON "${Python_EXECUTABLE}")
endif()
set(HALIDE_CORE_COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${_halide_core_root}" "${HALIDE_CORE_PYTHON}" -m halide_core)

execute_process(
    COMMAND ${HALIDE_CORE_COMMAND} cmake-dir
    RESULT_VARIABLE _halide_core_result OUTPUT_QUIET ERROR_VARIABLE _halide_core_error
)
if(_halide_core_result)
    set(halide_core_FOUND FALSE)
    set(halide_core_NOT_FOUND_MESSAGE
        "${HALIDE_CORE_PYTHON} can't run halide_core; set Python_EXECUTABLE to one that can. ${_halide_core_error}")
    return()
endif()

# Halide's kinds of extra files, and what their names end in.
set(_halide_core_extras ASSEMBLY C_SOURCE CONCEPTUAL_STMT CONCEPTUAL_STMT_HTML HLPIPE REGISTRATION SCHEDULE STMT STMT_HTML)
set(_halide_core_ASSEMBLY .s)
set(_halide_core_C_SOURCE .halide_generated.c)
set(_halide_core_CONCEPTUAL_STMT .conceptual.stmt)
set(_halide_core_CONCEPTUAL_STMT_HTML .conceptual.stmt.html)
set(_halide_core_HLPIPE .hlpipe)
set(_halide_core_REGISTRATION .registration.cpp)
set(_halide_core_SCHEDULE .schedule.py)
set(_halide_core_STMT .stmt)
set(_halide_core_STMT_HTML .stmt.html)
set(_halide_core_absent BITCODE COMPILER_LOG FEATURIZATION FUNCTION_INFO_HEADER LLVM_ASSEMBLY PYTORCH_WRAPPER NAMESPACE)

# The target to compile for: that of the arguments, with their features.
function(_halide_core_target OUT TARGETS FEATURES)
    list(LENGTH TARGETS count)
    if(count GREATER 1)
        message(FATAL_ERROR "Libraries for several TARGETS, which choose when they run, are not available yet.")
    elseif(count EQUAL 0)
        if(CMAKE_CROSSCOMPILING)
            message(FATAL_ERROR "TARGETS must say what to compile for: the project is not for this machine.")
        endif()
        set(TARGETS host)
    endif()
    string(REPLACE ";" "-" text "${TARGETS};${FEATURES}")
    string(REGEX REPLACE "-+$" "" text "${text}")
    if(text MATCHES "^cmake")
        string(REGEX REPLACE "^cmake" "host" text "${text}")
    endif()
    set(${OUT} "${text}" PARENT_SCOPE)
endfunction()

# A library of object files, with the folder of its headers.
function(_halide_core_objects TARGET FOLDER NO_THREADS)
    add_library(${TARGET} STATIC ${ARGN})
    set_target_properties(${TARGET} PROPERTIES LINKER_LANGUAGE C)
    target_include_directories(${TARGET} INTERFACE "$<BUILD_INTERFACE:${FOLDER}>")
    if(UNIX)
        target_link_libraries(${TARGET} INTERFACE m)
    endif()
    if(NOT NO_THREADS)
        target_link_libraries(${TARGET} INTERFACE Threads::Threads)
    endif()
endfunction()

# add_halide_generator(target [SOURCES] file.py): a file of Generators, by a name.
function(add_halide_generator TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PACKAGE_NAME;PACKAGE_NAMESPACE;EXPORT_FILE;PYSTUB" "SOURCES;LINK_LIBRARIES")
    list(APPEND ARG_SOURCES ${ARG_UNPARSED_ARGUMENTS})
    list(GET ARG_SOURCES 0 script)
    get_filename_component(script "${script}" ABSOLUTE)
    list(TRANSFORM ARG_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
    add_custom_target(${TARGET} SOURCES ${ARG_SOURCES})
    set_target_properties(${TARGET} PROPERTIES HALIDE_CORE_SCRIPT "${script}" HALIDE_CORE_SOURCES "${ARG_SOURCES}")
endfunction()

# add_halide_runtime(target [TARGETS …] [NO_THREADS]): the runtime, for libraries that USE_RUNTIME it.
function(add_halide_runtime TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "NO_THREADS;NO_DL_LIBS" "" "TARGETS;FEATURES")
    _halide_core_target(target "${ARG_TARGETS}" "${ARG_FEATURES}")
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.halide")
    add_custom_command(
        OUTPUT "${folder}/${TARGET}.o" "${folder}/halide_runtime.h"
        COMMAND ${HALIDE_CORE_COMMAND} generate -r ${TARGET} -o "${folder}" -e object target=${target}
        COMMENT "Writing the runtime ${TARGET} for ${target}" VERBATIM
    )
    set_source_files_properties("${folder}/${TARGET}.o" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    _halide_core_objects(${TARGET} "${folder}" "${ARG_NO_THREADS}" "${folder}/${TARGET}.o")
endfunction()

# add_halide_library(target FROM generators [GENERATOR name] [FUNCTION_NAME name] [USE_RUNTIME target] [PARAMS …]
#                    [DEPENDS …] [TARGETS …] [FEATURES …] [AUTOSCHEDULER name] [HEADER var] [PYTHON_EXTENSION var]
#                    [REGISTRATION var] … [C_BACKEND] [NO_THREADS] [NO_DL_LIBS])
function(add_halide_library TARGET)
    set(names FROM GENERATOR FUNCTION_NAME USE_RUNTIME AUTOSCHEDULER HEADER PYTHON_EXTENSION)
    cmake_parse_arguments(
        PARSE_ARGV 1 ARG "GRADIENT_DESCENT;C_BACKEND;NO_THREADS;NO_DL_LIBS"
        "${names};${_halide_core_extras};${_halide_core_absent}" "PARAMS;DEPENDS;TARGETS;FEATURES;PLUGINS"
    )
    foreach(word IN LISTS _halide_core_absent ITEMS GRADIENT_DESCENT PLUGINS)
        if(ARG_${word})
            message(FATAL_ERROR "add_halide_library(${TARGET}): ${word} is not available yet.")
        endif()
    endforeach()
    if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_FROM)
        message(FATAL_ERROR "add_halide_library(${TARGET} FROM generators …): unknown: ${ARG_UNPARSED_ARGUMENTS}")
    endif()

    if(TARGET ${ARG_FROM})
        get_target_property(script ${ARG_FROM} HALIDE_CORE_SCRIPT)
        get_target_property(sources ${ARG_FROM} HALIDE_CORE_SOURCES)
    else()
        get_filename_component(script "${ARG_FROM}" ABSOLUTE)
        set(sources "${script}")
    endif()
    foreach(word GENERATOR FUNCTION_NAME)
        if(NOT ARG_${word})
            set(ARG_${word} ${TARGET})
        endif()
    endforeach()
    _halide_core_target(target "${ARG_TARGETS}" "${ARG_FEATURES}")
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.halide")
    file(MAKE_DIRECTORY "${folder}")

    set(code "${folder}/${TARGET}.o")
    set(kinds object c_header)
    if(ARG_C_BACKEND)
        set(code "${folder}/${TARGET}.halide_generated.c")
        set(kinds c_source c_header)
    endif()
    set(files "${code}" "${folder}/${TARGET}.h")
    foreach(extra IN LISTS _halide_core_extras)
        if(ARG_${extra})
            string(TOLOWER ${extra} kind)
            list(APPEND kinds ${kind})
            list(APPEND files "${folder}/${TARGET}${_halide_core_${extra}}")
            set(${ARG_${extra}} "${TARGET}.halide/${TARGET}${_halide_core_${extra}}" PARENT_SCOPE)
        endif()
    endforeach()
    list(REMOVE_DUPLICATES kinds)
    list(REMOVE_DUPLICATES files)
    list(JOIN kinds "," kinds)
    if(ARG_AUTOSCHEDULER)
        list(APPEND ARG_PARAMS autoscheduler=${ARG_AUTOSCHEDULER})
    endif()
    add_custom_command(
        OUTPUT ${files}
        COMMAND ${HALIDE_CORE_COMMAND} generate "${script}" -g ${ARG_GENERATOR} -f ${ARG_FUNCTION_NAME} -n ${TARGET}
            -o "${folder}" -e ${kinds} target=${target}-no_runtime ${ARG_PARAMS}
        DEPENDS ${sources} ${ARG_DEPENDS}
        COMMENT "Compiling the Generator ${ARG_GENERATOR} for ${target}" VERBATIM
    )
    if(ARG_C_BACKEND)
        set_source_files_properties(
            "${code}" PROPERTIES GENERATED TRUE
            COMPILE_OPTIONS "-std=gnu11;-ffp-contract=off;-fno-math-errno;-fno-trapping-math;-fPIC"
        )
    else()
        set_source_files_properties("${code}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    endif()
    _halide_core_objects(${TARGET} "${folder}" "${ARG_NO_THREADS}" "${code}")
    set_target_properties(${TARGET} PROPERTIES HALIDE_CORE_FUNCTION ${ARG_FUNCTION_NAME})

    if(NOT ARG_USE_RUNTIME)
        set(ARG_USE_RUNTIME ${TARGET}.runtime)
        set(threads "")
        if(ARG_NO_THREADS)
            set(threads NO_THREADS)
        endif()
        add_halide_runtime(${ARG_USE_RUNTIME} TARGETS ${target} ${threads})
    endif()
    target_link_libraries(${TARGET} PUBLIC ${ARG_USE_RUNTIME})
    if(ARG_HEADER)
        set(${ARG_HEADER} "${TARGET}.halide/${TARGET}.h" PARENT_SCOPE)
    endif()
    if(ARG_PYTHON_EXTENSION)
        _halide_core_module("${folder}/${TARGET}.py.c" ${TARGET} ${ARG_FUNCTION_NAME})
        set(${ARG_PYTHON_EXTENSION} "${TARGET}.halide/${TARGET}.py.c" PARENT_SCOPE)
    endif()
endfunction()

# The source of a Python module of functions.
function(_halide_core_module FILE NAME)
    add_custom_command(
        OUTPUT "${FILE}" COMMAND ${HALIDE_CORE_COMMAND} python-module ${NAME} ${ARGN} -o "${FILE}"
        COMMENT "Writing the Python module ${NAME}" VERBATIM
    )
endfunction()

# add_halide_python_extension_library(target [MODULE_NAME name] HALIDE_LIBRARIES library…): a module of their functions,
# <name>.abi3.so, for every CPython from 3.10 on. Nothing of Python is needed to build it.
function(add_halide_python_extension_library TARGET)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MODULE_NAME" "HALIDE_LIBRARIES")
    if(NOT ARG_HALIDE_LIBRARIES OR ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "add_halide_python_extension_library(${TARGET} HALIDE_LIBRARIES library…)")
    endif()
    if(NOT ARG_MODULE_NAME)
        set(ARG_MODULE_NAME ${TARGET})
    endif()
    set(functions "")
    foreach(library IN LISTS ARG_HALIDE_LIBRARIES)
        get_target_property(function ${library} HALIDE_CORE_FUNCTION)
        list(APPEND functions ${function})
    endforeach()
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}.halide/${ARG_MODULE_NAME}.py.c")
    _halide_core_module("${source}" ${ARG_MODULE_NAME} ${functions})
    add_library(${TARGET} MODULE "${source}")
    set_target_properties(${TARGET} PROPERTIES PREFIX "" SUFFIX ".abi3.so" OUTPUT_NAME ${ARG_MODULE_NAME})
    target_compile_options(${TARGET} PRIVATE -std=gnu11)
    target_link_libraries(${TARGET} PRIVATE ${ARG_HALIDE_LIBRARIES})
    if(APPLE)
        target_link_options(${TARGET} PRIVATE -undefined dynamic_lookup)
    else()
        target_link_options(${TARGET} PRIVATE -Wl,--exclude-libs,ALL)
    endif()
endfunction()
